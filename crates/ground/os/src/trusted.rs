//! Folders and files that no other user can change or redirect.
//!
//! **A file that Seatmap obeys, keeps secret, loads or resumes from must belong to this user or
//! root alone. A data file named by the user may belong to any user.** The check uses the
//! descriptor that is then read, so exchanging the name has no effect. The file must be ordinary,
//! without a second name, not a link, and writable by no other user.
//!
//! | file or folder | check |
//! |---|---|
//! | meeting files and secret files of ranks | [`read_secret`]: also unreadable for others |
//! | this host's remembered profile, locks | [`TrustedFolder`] |
//! | the run folder of cells, and their journals | [`TrustedFolder`] |
//! | journals of `measure`, `rank` and `tune`, for `--resume` | [`open`], [`read_own`] |
//! | plans for `services race`: metrics are shell commands | [`read_own`] |
//! | the folder for traces of ranks | [`private_folder`] |
//! | a folder shown to other programs | [`reach`]: the path to it |
//! | orders of other ranks | the handshake and the tags of `seatmap-cluster` |
//! | plans, machines and other data named by the user | none: no commands |
//!
//! A trusted folder is a real directory of the effective user, not writable by group or others.
//! Every folder above it must belong to root or that user and be writable by no other user, or be
//! root's and sticky, like `/tmp`. The check walks down from `/` on descriptors (openat(2) with
//! `O_NOFOLLOW`). It follows a link above the folder, such as `/var/run`, if only root or the user
//! can have made it.

mod file;
mod walk;

pub use file::{Open, open};
pub use walk::reach;
pub(crate) use walk::to_control_folder;

use crate::rights;
use crate::root::Root;
use crate::shell::shell_escaped;
use crate::whole_file::folder_of;
use rustix::fs::{self, AtFlags, OFlags};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static REPLACED: AtomicU32 = AtomicU32::new(0);

/// Why a folder or file is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A system call failed.
    #[error("{path}: {source}")]
    Io {
        /// Folder or file.
        path: PathBuf,
        /// Kernel's error.
        source: io::Error,
    },
    /// A link or a file in place of a folder.
    #[error("'{0}' is a symbolic link or a file; name a real folder")]
    NotAFolder(PathBuf),
    /// A link, device or pipe, or a file with a second name.
    #[error("'{0}' is a link or a special file and could lead elsewhere; remove it")]
    NotAFile(PathBuf),
    /// A folder or file of another user.
    #[error("{}", foreign(.path, *.owner))]
    Foreign {
        /// Folder or file.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// Other users can write it.
    #[error(
        "other users can write '{path}' (mode {mode:04o}); run 'chmod go-w {}' or name another \
         folder",
        shell_escaped(&.path.display().to_string())
    )]
    Writable {
        /// Folder or file.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
    },
    /// A secret readable by other users.
    #[error(
        "other users can read '{path}' (mode {mode:04o}), which holds a secret; run 'chmod 600 {}'",
        shell_escaped(&.path.display().to_string())
    )]
    Readable {
        /// File.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
    },
    /// A file longer than any valid one.
    #[error("'{0}' is longer than any valid file of its kind")]
    TooLong(PathBuf),
    /// A name with a slash, or the name of a folder.
    #[error("'{}' is not a file name", .0.display())]
    NotAName(OsString),
}

/// In a user namespace, one number stands for all unknown users, even the host's root: trust none
/// of their folders.
fn foreign(path: &Path, owner: u32) -> String {
    let root = Root::new("/");
    let path = path.display();
    if rights::is_unknown_user(&root, owner) {
        return format!(
            "'{path}' belongs to a user unknown in this user namespace (shown as {owner}), who can \
             change its contents; run this as root of the host, outside the namespace"
        );
    }
    format!(
        "'{path}' belongs to user {owner}, who can change its contents; name a folder of your own"
    )
}

impl TrustError {
    /// Whether the folder or file does not exist.
    pub fn is_absent(&self) -> bool {
        matches!(self, TrustError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl From<TrustError> for io::Error {
    fn from(error: TrustError) -> Self {
        let kind = match &error {
            TrustError::Io { source, .. } => source.kind(),
            TrustError::NotAName(_) => io::ErrorKind::InvalidInput,
            _ => io::ErrorKind::PermissionDenied,
        };
        io::Error::new(kind, error)
    }
}

/// A checked folder, held open.
#[derive(Debug)]
pub struct TrustedFolder {
    path: PathBuf,
    folder: OwnedFd,
}

impl TrustedFolder {
    /// Opens an existing folder.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn open(path: &Path) -> Result<Self, TrustError> {
        TrustedFolder::reached(path, false)
    }

    /// Opens a folder, or creates it and its parents for this user alone.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn create(path: &Path) -> Result<Self, TrustError> {
        TrustedFolder::reached(path, true)
    }

    fn reached(path: &Path, is_made: bool) -> Result<Self, TrustError> {
        let path = std::path::absolute(path).map_err(at(path))?;
        let reached = walk::down(&path, is_made)?;
        walk::check_last(&path, &reached)?;
        // An `O_PATH` descriptor cannot be read or locked.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = fs::openat(&reached, ".", flags, fs::Mode::empty()).map_err(at(&path))?;
        Ok(TrustedFolder { path, folder })
    }

    /// Its absolute path, which no other user can redirect.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file without following a link.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn file(&self, name: impl AsRef<OsStr>, how: Open) -> Result<std::fs::File, TrustError> {
        let name = checked(name.as_ref())?;
        file::open_in(self.folder.as_fd(), &self.path, name, how)
    }

    /// Writes or replaces a file atomically.
    ///
    /// # Errors
    /// [`TrustError`]; the file is then unchanged.
    pub fn replace(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> Result<(), TrustError> {
        let name = checked(name.as_ref())?;
        let (new, mut file) = self.fresh()?;
        let written = file.write_all(bytes).map_err(at(&self.path.join(&new)));
        let placed = written.and_then(|()| {
            fs::renameat(&self.folder, &new, &self.folder, name).map_err(at(&self.path.join(name)))
        });
        if placed.is_err() {
            self.remove(&new)?;
        }
        placed
    }

    fn fresh(&self) -> Result<(OsString, std::fs::File), TrustError> {
        loop {
            let count = REPLACED.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".{}.{count}.new", std::process::id()));
            match self.file(&name, Open::New) {
                // Left by a process with the same number, in another container or dead.
                Err(TrustError::Io { source, .. })
                    if source.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return opened.map(|file| (name, file)),
            }
        }
    }

    /// Removes a file or link, if it exists.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn remove(&self, name: impl AsRef<OsStr>) -> Result<(), TrustError> {
        let name = checked(name.as_ref())?;
        match fs::unlinkat(&self.folder, name, AtFlags::empty()) {
            Err(rustix::io::Errno::NOENT) => Ok(()),
            other => other.map_err(at(&self.path.join(name))),
        }
    }

    /// The names in the folder, unordered.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn names(&self) -> Result<Vec<OsString>, TrustError> {
        use std::os::unix::ffi::OsStringExt;
        let entries = fs::Dir::read_from(&self.folder).map_err(at(&self.path))?;
        entries
            .map(|entry| {
                entry
                    .map(|entry| OsString::from_vec(entry.file_name().to_bytes().to_vec()))
                    .map_err(at(&self.path))
            })
            .filter(|name| !matches!(name, Ok(name) if name == "." || name == ".."))
            .collect()
    }
}

/// Reads a file that no other user can have written or redirected.
///
/// # Errors
/// [`TrustError`]: the file or a folder above it is unreadable, a link or not trusted.
pub fn read(path: &Path) -> Result<Vec<u8>, TrustError> {
    let name = file::name_of(path)?;
    let mut file = TrustedFolder::open(folder_of(path))?.file(name, Open::Read)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(at(path))?;
    Ok(bytes)
}

/// In bytes.
const LONGEST_SECRET: u64 = 1 << 16;

/// Reads a file that only this user can read and write, not a link. Folders above it may belong to
/// any user.
///
/// # Errors
/// [`TrustError`].
pub fn read_secret(path: &Path) -> Result<Vec<u8>, TrustError> {
    let file = open(path, Open::Read)?;
    let mode = fs::fstat(&file).map_err(at(path))?.st_mode & 0o7777;
    if mode & 0o077 != 0 {
        return Err(TrustError::Readable { path: path.to_owned(), mode });
    }
    bounded(path, file, LONGEST_SECRET)
}

/// Reads a file of this user, up to a bound in bytes. Folders above it may belong to any user.
///
/// # Errors
/// [`TrustError`].
pub fn read_own(path: &Path, most_bytes: u64) -> Result<Vec<u8>, TrustError> {
    bounded(path, open(path, Open::Read)?, most_bytes)
}

fn bounded(path: &Path, file: std::fs::File, most_bytes: u64) -> Result<Vec<u8>, TrustError> {
    let mut bytes = Vec::new();
    file.take(most_bytes + 1).read_to_end(&mut bytes).map_err(at(path))?;
    if bytes.len() as u64 > most_bytes {
        return Err(TrustError::TooLong(path.to_owned()));
    }
    Ok(bytes)
}

/// Creates a folder for this user alone, or accepts an existing one. Folders above it may belong to
/// any user.
///
/// # Errors
/// [`TrustError`].
pub fn private_folder(path: &Path) -> Result<(), TrustError> {
    match fs::mkdir(path, fs::Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(errno) => return Err(at(path)(errno)),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = fs::open(path, flags, fs::Mode::empty()).map_err(|errno| match errno {
        rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP => {
            TrustError::NotAFolder(path.to_owned())
        }
        errno => at(path)(errno),
    })?;
    walk::check_last(path, &folder)
}

impl AsFd for TrustedFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

fn checked(name: &OsStr) -> Result<&OsStr, TrustError> {
    let is_whole = Path::new(name).file_name() == Some(name);
    if is_whole { Ok(name) } else { Err(TrustError::NotAName(name.to_owned())) }
}

fn at<E: Into<io::Error>>(path: &Path) -> impl FnOnce(E) -> TrustError {
    move |error| TrustError::Io { path: path.to_owned(), source: error.into() }
}

#[cfg(test)]
mod tests;
