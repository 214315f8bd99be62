//! Files that are whole at every moment: the old text or the new.

use std::fs::{self, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// Links that are followed, as many as Linux follows (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Puts a file in place of the one of this name, if there is one: it is written beside it and renamed, so that
/// readers see the old content or the new, whenever the writer dies.
///
/// The users who could read the old file can read the new one: mode and, as far as the writer may set it, owner stay.
/// A new file gets what the umask leaves. A symbolic link of this name is replaced and not followed; [`behind_links`]
/// finds what it stands for.
///
/// # Errors
/// The system's error; the old file is then unchanged.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let old = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
    let mode = if old.is_some() { 0o600 } else { 0o666 };
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(folder_of(path))?;
    file.write_all(content)?;
    if let Some(old) = old {
        // Only root can give a file away; one's own file that replaces another's is still the result asked for.
        let _ = fchown(file.as_file(), Some(old.uid()), Some(old.gid()));
        // After the owner: to change that takes privileged bits of the mode away.
        file.as_file().set_permissions(Permissions::from_mode(old.permissions().mode() & 0o777))?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The file that a name stands for, through symbolic links, whether it exists or not. `None` where they lead through
/// `/proc`, as `/dev/stdout` does: such a name is an open file, which cannot be replaced but only written.
///
/// # Errors
/// A link cannot be read, or there are more than Linux would follow.
pub fn behind_links(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if std::path::absolute(&path)?.starts_with("/proc") {
            return Ok(None);
        }
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Ok(Some(path));
        }
        path = folder_of(&path).join(fs::read_link(&path)?);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// The folder that a file of this name lies in.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "old").unwrap();
        for kept in [0o664, 0o600, 0o755] {
            fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
            replace(&path, b"new").unwrap();
            assert_eq!((mode(&path), fs::read(&path).unwrap()), (kept, b"new".to_vec()));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_replaced_where_it_was_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [link, target] = ["link", "target"].map(|name| folder.path().join(name));
        fs::write(&target, "old").unwrap();
        symlink("target", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"old");
    }

    #[test]
    fn links_are_followed_to_their_end() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        symlink("sub/two", at("one")).unwrap();
        symlink("../three", at("sub/two")).unwrap();
        let found = behind_links(&at("one")).unwrap().unwrap();
        replace(&found, b"new").unwrap();
        assert_eq!(fs::read(at("three")).unwrap(), b"new", "a link whose end does not exist yet makes it");
        symlink("round", at("round")).unwrap();
        assert!(behind_links(&at("round")).unwrap_err().to_string().contains("too many"));
        assert_eq!(behind_links(&at("three")).unwrap(), Some(at("three")));
    }

    #[test]
    fn an_open_file_has_no_name_to_replace() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("stdout");
        symlink("/proc/self/fd/1", &link).unwrap();
        assert_eq!(behind_links(&link).unwrap(), None);
    }
}
