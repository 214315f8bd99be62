//! Files below `/sys` and `/proc`: all access goes through here.

use crate::CpuSet;
use crate::control_file;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A computer's files below a folder: `/`, or a test's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}")]
pub struct FileError {
    /// Path on that computer.
    pub path: String,
    /// Kernel's error.
    pub source: io::Error,
}

impl FileError {
    /// Whether the file does not exist, for instance because its thread has exited.
    pub fn is_absent(&self) -> bool {
        // ESRCH from /proc/PID, ENODEV from a removed control group.
        let gone = [libc::ENOENT, libc::ESRCH, libc::ENODEV];
        self.source.raw_os_error().is_some_and(|code| gone.contains(&code))
    }
}

impl Root {
    /// The computer below this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Root(folder.into())
    }

    /// Whether this is the real computer, to which system calls refer too.
    pub fn is_this_computer(&self) -> bool {
        self.0 == std::path::Path::new("/")
    }

    /// CPUs known to run: the caller's mask; none for a test's files.
    pub fn running(&self) -> CpuSet {
        let own = self.is_this_computer().then(|| CpuSet::of_thread(0).ok()).flatten();
        own.unwrap_or_default()
    }

    /// The real path of that computer's file.
    pub fn path(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// Whether a path exists.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The text of a file, without trailing white space.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn read(&self, path: &str) -> Result<String, FileError> {
        let bytes = fs::read(self.path(path)).map_err(at(path))?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().trim_end_matches('\0').to_owned())
    }

    /// The CPUs or nodes in a file, as a list; `None` if it is unreadable or invalid.
    pub fn cpus(&self, path: &str) -> Option<CpuSet> {
        CpuSet::of_list(&self.read(path).ok()?)
    }

    /// The number in a file; `None` if it is unreadable or no number.
    pub fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.read(path).ok()?.trim().parse().ok()
    }

    /// Writes an existing kernel file with one call, as control files require. No link can redirect
    /// it (see the module `control_file`).
    ///
    /// # Errors
    /// [`FileError`]; `EIO` from an interrupt managed by the kernel, `EBUSY` and `EINVAL` from
    /// cpusets.
    pub fn write(&self, path: &str, text: &str) -> Result<(), FileError> {
        let written = control_file::open(self, Path::new(path))
            .and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()));
        written.map_err(at(path))
    }

    /// Opens a file as [`Root::write`] does, for a later process's writes.
    ///
    /// # Errors
    /// As [`Root::write`].
    pub fn control_file(&self, path: &Path) -> io::Result<fs::File> {
        control_file::open(self, path)
    }

    /// The names in a folder, sorted; empty if it does not exist. Omits names that are not UTF-8,
    /// which cells and units do not use.
    ///
    /// # Errors
    /// [`FileError`]: the folder exists but is unreadable.
    pub fn names(&self, folder: &str) -> Result<Vec<String>, FileError> {
        let mut names: Vec<String> = self
            .entries(folder, self.path(folder))?
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    fn entries(&self, shown: &str, folder: PathBuf) -> Result<Vec<OsString>, FileError> {
        let listed =
            fs::read_dir(folder).and_then(|all| all.map(|entry| Ok(entry?.file_name())).collect());
        match listed.map_err(at(shown)) {
            Err(error) if error.is_absent() => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// The subfolders by name; empty if the folder does not exist.
    ///
    /// # Errors
    /// As [`Root::names`].
    pub fn folders(&self, folder: &str) -> Result<Vec<String>, FileError> {
        let names = self.names(folder)?.into_iter();
        Ok(names.filter(|name| self.path(&format!("{folder}/{name}")).is_dir()).collect())
    }

    /// Paths of the subfolders, sorted; empty if the folder does not exist. Includes names that are
    /// not UTF-8, because users name control groups.
    ///
    /// # Errors
    /// As [`Root::names`].
    pub fn all_folders(&self, folder: &Path) -> Result<Vec<PathBuf>, FileError> {
        let names = self.entries(&folder.display().to_string(), self.of(folder))?;
        let mut folders: Vec<PathBuf> = names.into_iter().map(|name| folder.join(name)).collect();
        folders.retain(|path| self.of(path).is_dir());
        folders.sort_unstable();
        Ok(folders)
    }

    /// Like [`Root::path`], for paths that may not be UTF-8.
    pub fn of(&self, path: &Path) -> PathBuf {
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Creates a control group, if it does not exist.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn make_folder(&self, path: &str) -> Result<(), FileError> {
        control_file::make_folder(self, Path::new(path)).map_err(at(path))
    }

    /// Removes a control group without members.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn remove_folder(&self, path: &str) -> Result<(), FileError> {
        control_file::remove_folder(self, Path::new(path)).map_err(at(path))
    }
}

/// A file's name without its folder.
pub(crate) fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn at(path: &str) -> impl FnOnce(io::Error) -> FileError {
    move |source| FileError { path: path.to_owned(), source }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn with_files(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        files.iter().for_each(|(path, text)| write(&root, path, text));
        (folder, root)
    }

    pub(crate) fn write(root: &Root, path: &str, text: &str) {
        std::fs::create_dir_all(root.path(path).parent().unwrap()).unwrap();
        std::fs::write(root.path(path), text).unwrap();
    }

    #[test]
    fn files_are_read_written_and_listed() {
        let (_folder, root) = with_files(&[]);
        assert!(root.write("/a", "1").unwrap_err().is_absent(), "control files are never created");
        write(&root, "/a", "long text\n\0");
        root.write("/a", "1").unwrap();
        root.make_folder("/b").and_then(|()| root.make_folder("/b")).unwrap();
        assert_eq!(
            (root.read("/a").unwrap().as_str(), root.names("/").unwrap()),
            ("1", vec!["a".into(), "b".into()])
        );
        assert_eq!(root.folders("/").unwrap(), ["b"]);
        root.remove_folder("/b").unwrap();
        assert!(!root.has("/b") && root.names("/b").unwrap().is_empty());
    }

    #[test]
    fn non_utf8_name_is_skipped_or_kept_verbatim() {
        use std::os::unix::ffi::OsStringExt;
        let (folder, root) = with_files(&[]);
        root.make_folder("/a").unwrap();
        assert!(root.all_folders(Path::new("/none")).unwrap().is_empty());
        let odd = OsString::from_vec(vec![b'b', 0xff]);
        std::fs::create_dir(folder.path().join(&odd)).unwrap();
        assert_eq!(root.names("/").unwrap(), ["a"]);
        assert_eq!(root.folders("/").unwrap(), ["a"]);
        let all = root.all_folders(Path::new("/")).unwrap();
        assert_eq!(all, [PathBuf::from("/a"), Path::new("/").join(&odd)]);
    }

    #[test]
    fn unreadable_folder_is_not_empty() {
        let (_folder, root) = with_files(&[("/file", "")]);
        for list in [Root::names, Root::folders] {
            assert_eq!(
                list(&root, "/file").unwrap_err().source.raw_os_error(),
                Some(libc::ENOTDIR)
            );
        }
    }
}
