//! Text that a process shows to other processes without a file on disk.
//!
//! The text is an anonymous file (memfd_create(2)), visible below `/proc/PID/fd` to root and the
//! same user.

use crate::Tid;
use crate::root::{FileError, Root};
use crate::sched::ThreadStatus;
use crate::task::ThreadStat;
use rustix::fs::{MemfdFlags, memfd_create};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// Name of the seating shown by a launcher.
pub const SEATING: &str = "seatmap-seating";

const LONGEST_BYTES: u64 = 64 << 20;

/// A file can claim a loop of parents.
const MOST_ANCESTORS: usize = 64;

/// A text shown by this process.
#[derive(Debug)]
pub struct Published {
    name: &'static str,
    file: Option<File>,
}

impl Published {
    /// Shows nothing yet.
    pub fn new(name: &'static str) -> Self {
        Published { name, file: None }
    }

    /// Shows a text. Readers get the old or the new text, never a mixture.
    ///
    /// # Errors
    /// The kernel has no memory or descriptor left.
    pub fn replace(&mut self, text: &[u8]) -> io::Result<()> {
        let mut file = File::from(memfd_create(self.name, MemfdFlags::CLOEXEC)?);
        file.write_all(text)?;
        self.file = Some(file);
        Ok(())
    }
}

/// `None` also if invisible to this user.
fn file_of(root: &Root, pid: Tid, name: &str) -> Result<Option<PathBuf>, FileError> {
    let folder = format!("/proc/{pid}/fd");
    let descriptors = match root.names(&folder) {
        Ok(descriptors) => descriptors,
        Err(error) if error.source.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => return Err(error),
    };
    let descriptor = descriptors.into_iter().find(|descriptor| {
        let link = fs::read_link(root.path(&format!("{folder}/{descriptor}"))).unwrap_or_default();
        link.to_string_lossy()
            .strip_prefix("/memfd:")
            .and_then(|link| link.strip_suffix(" (deleted)"))
            == Some(name)
    });
    Ok(descriptor.map(|descriptor| root.path(&format!("{folder}/{descriptor}"))))
}

/// Whether a process shows a text with this name to this user.
///
/// # Errors
/// [`FileError`]: its descriptors cannot be listed, so it may show one.
pub fn shows(root: &Root, pid: Tid, name: &str) -> Result<bool, FileError> {
    Ok(file_of(root, pid, name)?.is_some())
}

/// A process's text with this name; `None` if missing or unreadable for this user.
///
/// # Errors
/// [`FileError`]: the process may show one, but it cannot be read.
pub fn read(root: &Root, pid: Tid, name: &str) -> Result<Option<Vec<u8>>, FileError> {
    let Some(path) = file_of(root, pid, name)? else { return Ok(None) };
    let mut text = Vec::new();
    let whole = File::open(&path).and_then(|file| file.take(LONGEST_BYTES).read_to_end(&mut text));
    match whole.map_err(|source| FileError { path: path.display().to_string(), source }) {
        Ok(_) => Ok(Some(text)),
        Err(error) if error.source.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        // The process has exited or replaced its text.
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A text and its process.
#[derive(Debug, PartialEq)]
pub struct PublishedText {
    /// Process.
    pub pid: Tid,
    /// Its text.
    pub text: Vec<u8>,
}

impl PublishedText {
    /// Whether to trust this text about another process: its process must belong to root or that
    /// process's user. Any process can show any text, and root reads all.
    pub fn may_speak_of(&self, root: &Root, pid: Tid) -> bool {
        let own = uid(root, self.pid);
        // Texts about exited processes are harmless.
        own == Some(0) || uid(root, pid).is_none_or(|uid| own == Some(uid))
    }
}

/// The effective user. The owner of the `/proc` folder is root for processes that hide their
/// memory.
fn uid(root: &Root, pid: Tid) -> Option<u32> {
    let status = root.read(&format!("/proc/{pid}/status")).ok()?;
    ThreadStatus::parse(status.as_bytes()).user
}

/// The texts with this name of these processes and their ancestors, each read once.
///
/// # Errors
/// As [`read`].
pub fn read_above(
    root: &Root,
    pids: impl IntoIterator<Item = Tid>,
    name: &str,
) -> Result<Vec<PublishedText>, FileError> {
    let mut known = HashSet::new();
    let mut texts = Vec::new();
    for pid in pids {
        let line = std::iter::successors(Some(pid), |pid| {
            ThreadStat::of(*pid).map(|task| task.parent).filter(|parent| *parent > 0)
        })
        .take(MOST_ANCESTORS)
        .take_while(|pid| known.insert(*pid));
        for pid in line {
            texts.extend(read(root, pid, name)?.map(|text| PublishedText { pid, text }));
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::{with_files, write};

    #[test]
    fn process_may_publish_only_about_its_user() {
        let (_folder, root) = with_files(&[]);
        for (pid, uid) in [(1, 0), (7, 1000), (8, 1000), (9, 1001)] {
            let status = format!("Name:\tx\nUid:\t1\t{uid}\t1\t1\n");
            write(&root, &format!("/proc/{pid}/status"), &status);
        }
        let speaks = |of: Tid, about: Tid| {
            PublishedText { pid: of, text: Vec::new() }.may_speak_of(&root, about)
        };
        assert!(speaks(7, 8) && speaks(1, 9) && speaks(7, 99));
        assert!(!speaks(7, 9) && !speaks(7, 1) && !speaks(99, 7));
    }

    #[test]
    fn latest_published_text_is_found() {
        let root = Root::new("/");
        let own = std::process::id() as Tid;
        let mut shown = Published::new("seatmap-test-published");
        let text = |name: &str| read(&root, own, name).unwrap();
        assert_eq!(text("seatmap-test-published"), None);
        shown.replace(b"one").unwrap();
        shown.replace(b"another").unwrap();
        assert_eq!(text("seatmap-test-published").as_deref(), Some(&b"another"[..]));
        assert_eq!(text("seatmap-test"), None);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let above = read_above(&root, [child.id() as Tid, own], "seatmap-test-published");
        child.kill().and_then(|()| child.wait()).unwrap();
        let once = [PublishedText { pid: own, text: b"another".to_vec() }];
        assert_eq!(above.unwrap(), once, "both are below it");
        drop(shown);
        assert_eq!(text("seatmap-test-published"), None);
    }

    #[test]
    fn unlistable_descriptors_are_an_error() {
        let (_folder, root) = with_files(&[]);
        assert!(!shows(&root, 7, SEATING).unwrap(), "it has ended");
        write(&root, "/proc/7/fd", "");
        assert!(shows(&root, 7, SEATING).is_err() && read_above(&root, [7], SEATING).is_err());
    }
}
