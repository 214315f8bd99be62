//! A tree of small files like `/sys` and `/proc`: on disk below any folder, or in memory.
//!
//! Links are followed only within the tree, so a tree from another computer cannot show files of
//! this one.

use seatmap_os::CpuSet;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The most bytes of one file; files of sysfs have at most a page.
pub const MAX_FILE_BYTES: usize = 1 << 20;

/// The folder of all CPUs.
pub const CPUS: &str = "sys/devices/system/cpu";

const PAGE_BYTES: usize = 4096;

const MAX_NAMES: usize = 1 << 17;

/// The most links in a row, as in the kernel.
const MAX_LINKS: u32 = 40;

/// A tree of files. Paths are relative to its root, without a leading slash.
pub struct FileTree {
    store: Store,
    /// Real path of each requested folder; `None` if the folder does not exist.
    folders: RefCell<HashMap<String, Option<String>>>,
}

enum Store {
    /// This computer's root: the kernel follows the links.
    Host,
    Disk(PathBuf),
    Memory {
        root: String,
        nodes: HashMap<String, TreeEntry>,
    },
}

pub enum TreeEntry {
    File(Vec<u8>),
    Link(String),
    Folder(BTreeSet<String>),
}

enum PathContent {
    Bytes(Vec<u8>),
    Link(String),
}

impl FileTree {
    pub fn of_host() -> Self {
        FileTree::over(Store::Host)
    }

    pub fn is_host(&self) -> bool {
        matches!(self.store, Store::Host)
    }

    pub fn below(root: &Path) -> Self {
        if root == Path::new("/") {
            FileTree::of_host()
        } else {
            FileTree::over(Store::Disk(root.to_owned()))
        }
    }

    pub fn in_memory(root: String, nodes: HashMap<String, TreeEntry>) -> Self {
        FileTree::over(Store::Memory { root, nodes })
    }

    fn over(store: Store) -> Self {
        FileTree { store, folders: RefCell::default() }
    }

    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = self.bytes(path)?;
        Some(String::from_utf8_lossy(&bytes).trim().trim_end_matches('\0').to_owned())
    }

    /// A file in the folder of a CPU.
    pub fn of_cpu(&self, cpu: u32, file: &str) -> Option<String> {
        self.text(&format!("{CPUS}/cpu{cpu}/{file}"))
    }

    /// A file with a list of CPUs or nodes.
    pub fn set(&self, path: &str) -> Option<CpuSet> {
        CpuSet::of_list(&self.text(path)?)
    }

    /// As [`FileTree::text`], but only the first page: the kernel generates the rest of a long file
    /// only when it is read.
    pub fn first_page(&self, path: &str) -> Option<String> {
        let bytes = self.read(path, PAGE_BYTES)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        self.read(path, MAX_FILE_BYTES)
    }

    fn read(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        let mut path = normal("", path);
        for _ in 0..MAX_LINKS {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let folder = self.real_folder(folder)?;
            match self.store.read(&joined(&folder, name), most)? {
                PathContent::Bytes(bytes) => return Some(bytes),
                PathContent::Link(target) => path = normal(&folder, &target),
            }
        }
        None
    }

    pub fn has(&self, path: &str) -> bool {
        match self.store {
            // The kernel follows its own links, which stay within its files.
            Store::Host => Path::new("/").join(path).exists(),
            _ => self.real_folder(&normal("", path)).is_some() || self.bytes(path).is_some(),
        }
    }

    pub fn list(&self, path: &str) -> Vec<String> {
        self.real_folder(&normal("", path)).map_or_else(Vec::new, |folder| self.store.list(&folder))
    }

    fn real_folder(&self, path: &str) -> Option<String> {
        match self.store {
            Store::Host => Some(path.to_owned()),
            _ => self.followed(path, MAX_LINKS),
        }
    }

    fn followed(&self, path: &str, links: u32) -> Option<String> {
        if path.is_empty() {
            return Some(String::new());
        }
        if let Some(known) = self.folders.borrow().get(path) {
            return known.clone();
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        // Cached by folder: each file of 192 CPUs would follow the same six folders again.
        let found = self.followed(parent, links).and_then(|parent| {
            match self.store.link(&joined(&parent, name))? {
                Some(target) => self.followed(&normal(&parent, &target), links.checked_sub(1)?),
                None => Some(joined(&parent, name)),
            }
        });
        self.folders.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }
}

impl Store {
    fn read(&self, path: &str, most: usize) -> Option<PathContent> {
        match self {
            Store::Host => {
                read_file(&Path::new("/").join(path), 0, most).ok().map(PathContent::Bytes)
            }
            Store::Disk(root) => {
                let path = root.join(path);
                // Without O_NONBLOCK, opening a named pipe among the files would block.
                match read_file(&path, libc::O_NOFOLLOW | libc::O_NONBLOCK, most) {
                    Ok(bytes) => Some(PathContent::Bytes(bytes)),
                    Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                        link_of(&path).map(PathContent::Link)
                    }
                    Err(_) => None,
                }
            }
            Store::Memory { root, nodes } => match nodes.get(&joined(root, path))? {
                TreeEntry::File(bytes) => {
                    Some(PathContent::Bytes(bytes[..bytes.len().min(most)].to_vec()))
                }
                TreeEntry::Link(target) => Some(PathContent::Link(target.clone())),
                TreeEntry::Folder(_) => None,
            },
        }
    }

    /// The target of a link; `Some(None)` for a folder; `None` for anything else.
    fn link(&self, path: &str) -> Option<Option<String>> {
        match self {
            Store::Host => Some(None),
            Store::Disk(root) => {
                let path = root.join(path);
                let kind = fs::symlink_metadata(&path).ok()?.file_type();
                if kind.is_symlink() {
                    Some(Some(link_of(&path)?))
                } else {
                    kind.is_dir().then_some(None)
                }
            }
            Store::Memory { root, nodes } => match nodes.get(&joined(root, path))? {
                TreeEntry::Folder(_) => Some(None),
                TreeEntry::Link(target) => Some(Some(target.clone())),
                TreeEntry::File(_) => None,
            },
        }
    }

    fn list(&self, path: &str) -> Vec<String> {
        let folder = match self {
            Store::Host => Path::new("/").join(path),
            Store::Disk(root) => root.join(path),
            Store::Memory { root, nodes } => match nodes.get(&joined(root, path)) {
                Some(TreeEntry::Folder(names)) => return names.iter().cloned().collect(),
                _ => return Vec::new(),
            },
        };
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let names =
            entries.take(MAX_NAMES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        // Numbers depend on the order of names, and that on the file system.
        names.sort_unstable();
        names
    }
}

fn link_of(path: &Path) -> Option<String> {
    fs::read_link(path).ok()?.into_os_string().into_string().ok()
}

/// Reads to the end, or a little beyond `most`, a page at a time. The standard library asks for the
/// size first, and sysfs gives a wrong size.
fn read_file(path: &Path, flags: i32, most: usize) -> io::Result<Vec<u8>> {
    let mut file: File = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    let mut page = [0; PAGE_BYTES];
    // A sysfs file is read at once, and a call for its end would double the calls; a /proc file
    // needs several.
    while bytes.len() < most {
        let read = file.read(&mut page)?;
        bytes.extend_from_slice(&page[..read]);
        if read == 0 || (read < PAGE_BYTES && path.starts_with("/sys")) {
            break;
        }
    }
    Ok(bytes)
}

fn joined(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", _) => name.to_owned(),
        (_, "") => folder.to_owned(),
        _ => format!("{folder}/{name}"),
    }
}

/// A path relative to a folder, without `.` and `..`; the root is its own parent.
fn normal(folder: &str, path: &str) -> String {
    let from = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn on_disk() -> (tempfile::TempDir, FileTree) {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("root/sys/cpu/policy0")).unwrap();
        fs::write(at("secret"), "no").unwrap();
        fs::write(at("root/sys/cpu/policy0/max"), "5000\n").unwrap();
        symlink("../policy0", at("root/sys/cpu/policy0/cpufreq")).unwrap();
        symlink("policy0/cpufreq", at("root/sys/cpu/cpufreq")).unwrap();
        symlink("/sys/cpu", at("root/absolute")).unwrap();
        symlink("../../../../secret", at("root/sys/escape")).unwrap();
        symlink("loop", at("root/sys/loop")).unwrap();
        symlink(folder.path(), at("root/sys/out")).unwrap();
        let tree = FileTree::below(&at("root"));
        (folder, tree)
    }

    #[test]
    fn links_are_followed_within_the_tree() {
        let (_folder, tree) = on_disk();
        for path in [
            "sys/cpu/policy0/max",
            "sys/cpu/cpufreq/max",
            "/absolute/cpufreq/max",
            "sys/../sys/cpu/cpufreq/max",
        ] {
            assert_eq!(tree.text(path).as_deref(), Some("5000"), "{path}");
        }
        assert_eq!(tree.list("absolute"), ["cpufreq", "policy0"]);
        assert!(
            tree.has("absolute/policy0")
                && tree.has("absolute/cpufreq/max")
                && !tree.has("absolute/max")
        );
    }

    #[test]
    fn nothing_outside_the_tree_is_read() {
        let (_folder, tree) = on_disk();
        for path in
            ["sys/escape", "../secret", "sys/loop", "sys/loop/x", "sys/out/secret", "sys/cpu"]
        {
            assert_eq!(tree.text(path), None, "{path}");
        }
        assert_eq!(tree.list("sys/out"), Vec::<String>::new());
    }

    #[test]
    fn named_pipe_does_not_block_the_reader() {
        let (folder, tree) = on_disk();
        let made =
            std::process::Command::new("mkfifo").arg(folder.path().join("root/sys/pipe")).status();
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(tree.text("sys/pipe").unwrap_or_default(), "");
        } else {
            seatmap_needs::skipped!("mkfifo is absent");
        }
    }
}
