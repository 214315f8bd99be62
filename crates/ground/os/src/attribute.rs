//! Extended attributes of files and folders (xattr(7)).
//!
//! Before Linux 6.6, tmpfs has only attributes for root.

use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use std::io;
use std::path::Path;

/// Namespaces in order of preference.
const SPACES: [&str; 2] = ["user", "trusted"];

/// `XATTR_SIZE_MAX` of xattr(7).
const MOST_BYTES: usize = 1 << 16;

/// Sets an attribute.
///
/// # Errors
/// The kernel's: the file system has no attributes, or the value is too long.
pub fn set(path: &Path, name: &str, value: &[u8]) -> io::Result<()> {
    Ok(put(path, name, value, SPACES[0]).or_else(|_| put(path, name, value, SPACES[1]))?)
}

fn put(path: &Path, name: &str, value: &[u8], space: &str) -> rustix::io::Result<()> {
    setxattr(path, format!("{space}.{name}"), value, XattrFlags::empty())
}

/// The readable attributes with this name, at most one per namespace.
pub fn get(path: &Path, name: &str) -> impl Iterator<Item = Vec<u8>> {
    SPACES.into_iter().filter_map(move |space| {
        let mut value = vec![0; MOST_BYTES];
        let length = getxattr(path, format!("{space}.{name}"), value.as_mut_slice()).ok()?;
        value.truncate(length);
        Some(value)
    })
}

/// The names of attributes with this prefix, without it.
pub fn names(path: &Path, prefix: &str) -> Vec<String> {
    let mut names = vec![0; MOST_BYTES];
    let length = listxattr(path, names.as_mut_slice()).unwrap_or(0);
    let names = String::from_utf8_lossy(&names[..length]).into_owned();
    let mut found: Vec<String> = names
        .split('\0')
        .filter_map(|name| {
            SPACES
                .iter()
                .find_map(|space| name.strip_prefix(space)?.strip_prefix('.')?.strip_prefix(prefix))
                .map(str::to_owned)
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Removes the attributes with this name whose value satisfies the predicate.
pub fn remove(path: &Path, name: &str, is_to_go: impl Fn(&[u8]) -> bool) {
    for space in SPACES {
        let name = format!("{space}.{name}");
        let mut value = vec![0; MOST_BYTES];
        let length = getxattr(path, &name, value.as_mut_slice());
        if length.is_ok_and(|length| is_to_go(&value[..length])) {
            // Already removed.
            let _ = removexattr(path, &name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_exists_until_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        if let Err(error) = set(path, "seatmap.test.one", b"1") {
            return seatmap_needs::skipped!("no notes in {}: {error}", path.display());
        }
        set(path, "seatmap.test.one", b"2").unwrap();
        set(path, "seatmap.test.two", b"3").unwrap();
        let read = |name| get(path, name).collect::<Vec<_>>();
        assert_eq!(
            (read("seatmap.test.one"), names(path, "seatmap.test.")),
            (vec![b"2".to_vec()], vec!["one".into(), "two".into()])
        );
        remove(path, "seatmap.test.one", |value| value == b"1");
        assert_eq!(read("seatmap.test.one").len(), 1, "another's");
        remove(path, "seatmap.test.one", |value| value == b"2");
        assert_eq!(
            (read("seatmap.test.one"), names(path, "seatmap.")),
            (Vec::new(), vec!["test.two".to_owned()])
        );
    }
}
