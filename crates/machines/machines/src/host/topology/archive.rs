//! Archives of `hwloc-gather-topology` (tar, optionally with bzip2), unpacked into memory.

use super::GatherError;
use super::tree::{FileTree, MAX_FILE_BYTES, TreeEntry};
use bzip2::read::MultiBzDecoder;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read};
use tar::{Archive, Entry, EntryType};

/// The most bytes of an unpacked archive: room for 4096 CPUs of 120 files each.
pub const MAX_UNPACKED_BYTES: u64 = 512 << 20;

const MAX_KEPT_BYTES: usize = 256 << 20;

/// The most bytes and parts of a path: paths in sysfs have fewer than 30 parts.
const MAX_PATH_BYTES: usize = 4096;
const MAX_DEPTH: usize = 64;

/// The tree in an archive; its root is the topmost folder with a folder `sys`.
pub fn unpack(bytes: &[u8]) -> Result<FileTree, GatherError> {
    match bytes {
        [] => Err(GatherError::Empty),
        [b'B', b'Z', b'h', ..] => read(MultiBzDecoder::new(bytes)),
        _ if bytes.get(257..262) == Some(b"ustar") => read(bytes),
        _ => Err(GatherError::NotAnArchive),
    }
}

fn read(bytes: impl Read) -> Result<FileTree, GatherError> {
    let mut limited = Limited { bytes, left: MAX_UNPACKED_BYTES };
    let mut unpacked = Unpacked::default();
    let mut archive = Archive::new(&mut limited);
    for entry in archive.entries().map_err(broken)? {
        unpacked.add(entry.map_err(broken)?)?;
    }
    // The checksum is at the end of the stream: a truncated file lacks it.
    io::copy(&mut limited, &mut io::sink()).map_err(broken)?;
    unpacked.tree()
}

fn broken(error: io::Error) -> GatherError {
    if error.get_ref().is_some_and(|inner| inner.is::<TooMuch>())
        || error.kind() == io::ErrorKind::FileTooLarge
    {
        GatherError::TooLarge
    } else {
        GatherError::Broken(error)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the archive is too large")]
struct TooMuch;

/// A reader that fails after a number of bytes. [`Read::take`] would report the end of the input
/// instead.
struct Limited<R> {
    bytes: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, TooMuch));
        }
        // The limit is on bzip2's output: a small archive can hold gigabytes of zeros.
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.bytes.read(&mut buffer[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

#[derive(Default)]
struct Unpacked {
    nodes: HashMap<String, TreeEntry>,
    kept_bytes: usize,
}

impl Unpacked {
    fn add(&mut self, mut entry: Entry<'_, impl Read>) -> Result<(), GatherError> {
        let path = path_of(&String::from_utf8_lossy(&entry.path_bytes()))?;
        let node = match entry.header().entry_type() {
            EntryType::Directory => TreeEntry::Folder(BTreeSet::new()),
            EntryType::Symlink => {
                let target = target_of(&entry);
                short(&target, true)?;
                TreeEntry::Link(target)
            }
            // A hard link has its target relative to the top of the archive.
            EntryType::Link => match self.nodes.get(&path_of(&target_of(&entry))?) {
                Some(TreeEntry::File(bytes)) => TreeEntry::File(bytes.clone()),
                _ => return Ok(()),
            },
            kind if kind.is_file() => {
                // The size in a file's header may be false.
                let mut bytes = Vec::new();
                entry
                    .by_ref()
                    .take(MAX_FILE_BYTES as u64)
                    .read_to_end(&mut bytes)
                    .map_err(broken)?;
                TreeEntry::File(bytes)
            }
            _ => return Ok(()),
        };
        self.keep(path, node)
    }

    fn keep(&mut self, path: String, node: TreeEntry) -> Result<(), GatherError> {
        let inside = match &node {
            TreeEntry::File(bytes) => bytes.len(),
            TreeEntry::Link(target) => target.len(),
            TreeEntry::Folder(_) => 0,
        };
        self.count(inside)?;
        let mut at = path.as_str();
        while let Some((folder, name)) =
            at.rsplit_once('/').or((!at.is_empty()).then_some(("", at)))
        {
            if !self.nodes.contains_key(folder) {
                self.count(folder.len())?;
            }
            let parent = self
                .nodes
                .entry(folder.to_owned())
                .or_insert_with(|| TreeEntry::Folder(BTreeSet::new()));
            // The parent is a file or link: no archiver writes such an entry, and no path leads to
            // it.
            let TreeEntry::Folder(names) = parent else { return Ok(()) };
            if !names.insert(name.to_owned()) {
                break;
            }
            self.count(name.len())?;
            at = folder;
        }
        match (self.nodes.get(&path), &node) {
            (Some(TreeEntry::Folder(_)), _) => {}
            _ => drop(self.nodes.insert(path, node)),
        }
        Ok(())
    }

    /// Counts the bytes of a node; each node also costs about this much in the maps.
    fn count(&mut self, bytes: usize) -> Result<(), GatherError> {
        // 128 for the entry itself: a million empty files are large, too.
        self.kept_bytes += bytes + 128;
        if self.kept_bytes > MAX_KEPT_BYTES { Err(GatherError::TooLarge) } else { Ok(()) }
    }

    fn tree(self) -> Result<FileTree, GatherError> {
        let has_sys = |root: &&String| {
            let sys = if root.is_empty() { "sys".to_owned() } else { format!("{root}/sys") };
            matches!(self.nodes.get(&sys), Some(TreeEntry::Folder(_)))
        };
        let roots = self.nodes.keys().filter(has_sys);
        // The outermost one: a gathered folder may itself hold a dump.
        let root = roots.min_by_key(|root| (root.matches('/').count(), root.len(), root.as_str()));
        let root = root.cloned().ok_or(GatherError::NoSys)?;
        Ok(FileTree::in_memory(root, self.nodes))
    }
}

fn target_of(entry: &Entry<'_, impl Read>) -> String {
    let target = entry.link_name_bytes().unwrap_or_default();
    String::from_utf8_lossy(&target).into_owned()
}

fn path_of(path: &str) -> Result<String, GatherError> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    short(path, !parts.contains(&"..") && parts.len() <= MAX_DEPTH)?;
    Ok(parts.join("/"))
}

fn short(path: &str, is_inside: bool) -> Result<(), GatherError> {
    if is_inside && path.len() <= MAX_PATH_BYTES {
        Ok(())
    } else {
        Err(GatherError::Path(path.chars().take(80).collect()))
    }
}
