//! Folders and files that no other user can change or redirect.
//!
//! # The rule
//!
//! **A file that Seatmap obeys, keeps secret, loads or goes on from has to be this user's or root's
//! alone. A file of figures that the user named may be anybody's.** A file of the first kind is
//! judged on the descriptor from which it is then read, so that exchanging a name meanwhile has no
//! effect: an ordinary file and not a link, without a second name, of this user or root, and
//! writable for no other user.
//!
//! | what is read | judged by |
//! |---|---|
//! | meeting files and secret files of ranks | [`read_secret`]: also readable for nobody else |
//! | the remembered profile of this host, and locks | [`TrustedFolder`]: the folders above, too |
//! | the run folder of cells, and their journals | [`TrustedFolder`]: the folders above, too |
//! | journals of `measure`, `rank` and `tune`, for `--resume` | [`open`], [`read_own`] |
//! | plans that `services race` tries: their metrics are lines for the shell | [`read_own`] |
//! | the folder in which the ranks of a job leave their traces | [`private_folder`] |
//! | a folder that other programs are shown | [`reach`]: the way to it |
//! | orders of other ranks | the handshake and the tags of `seatmap-cluster` |
//! | a plan, pattern, profile, machine or cluster that the user named | not judged: no commands |
//! | a baseline or recording that the user named | not judged: no commands |
//!
//! Writing follows another rule, in [`whole_file`](crate::whole_file): a link is followed only if
//! root or this user made it, and nothing that another user put into a shared folder is written.
//!
//! # Folders
//!
//! A program that runs as root and keeps its state in a folder obeys the files there. So the folder
//! must belong to its user alone: a real directory, owned by the effective user, that neither group
//! nor others may write. Every folder above it must belong to root or to that user and be writable
//! for no other user, or be sticky and owned by root, as `/tmp` is. The check walks from `/`
//! downwards on descriptors (openat(2) with `O_NOFOLLOW`), so exchanging a name meanwhile has no
//! effect.
//!
//! A symbolic link above the folder is followed if only root or the user can have made it:
//! `/var/run` is such a link. The folder itself, and files in it, are never links.

mod file;
mod walk;

pub use file::{Open, open};
pub use walk::reach;
pub(crate) use walk::to_control_folder;

use crate::rights;
use crate::root::Root;
use crate::shell::shell_escaped;
use rustix::fs::{self, AtFlags, OFlags};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers the files that [`TrustedFolder::replace`] writes before it renames them.
static REPLACED: AtomicU32 = AtomicU32::new(0);

/// Why a folder or a file is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The kernel refused a step.
    #[error("{path}: {source}")]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A link, or a file, where a folder should be.
    #[error("'{0}' is a symbolic link or a file; name a real folder")]
    NotAFolder(PathBuf),
    /// A link, a device or a pipe where a file should be, or a file with a second name.
    #[error("'{0}' is a link or a special file and could lead elsewhere; remove it")]
    NotAFile(PathBuf),
    /// Another user's folder or file.
    #[error("{}", foreign(.path, *.owner))]
    Foreign {
        /// The folder or file.
        path: PathBuf,
        /// The number of the user that it belongs to.
        owner: u32,
    },
    /// A folder or file that others may write.
    #[error(
        "other users can write '{path}' (mode {mode:04o}); run 'chmod go-w {}' or name another \
         folder",
        shell_escaped(&.path.display().to_string())
    )]
    Writable {
        /// The folder or file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A secret that others may read.
    #[error(
        "other users can read '{path}' (mode {mode:04o}), which holds a secret; run 'chmod 600 {}'",
        shell_escaped(&.path.display().to_string())
    )]
    Readable {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A file that is longer than anything that belongs there.
    #[error("'{0}' is too long to be what is read here")]
    TooLong(PathBuf),
    /// A name with a slash, or that of a folder.
    #[error("'{}' is not the name of a file", .0.display())]
    NotAName(OsString),
}

/// The words for another user's folder. In a user namespace one number stands for all users that it
/// does not know, root of the host among them: the owner cannot be told, and no folder will do.
fn foreign(path: &Path, owner: u32) -> String {
    let root = Root::new("/");
    let path = path.display();
    if rights::is_unknown_user(&root, owner) {
        return format!(
            "'{path}' belongs to a user that this user namespace does not know ({owner} stands for \
             all of them), who can change what is in it; this needs root of the host, outside of \
             the namespace"
        );
    }
    format!(
        "'{path}' belongs to user {owner}, who can change what is in it; name a folder of your own"
    )
}

impl TrustError {
    /// Whether the folder or file is not there.
    #[must_use]
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

/// A folder that was checked and is held open.
#[derive(Debug)]
pub struct TrustedFolder {
    path: PathBuf,
    folder: OwnedFd,
}

impl TrustedFolder {
    /// Opens a folder that is there.
    ///
    /// # Errors
    /// [`TrustError`]: it is not there, or another user could change it.
    pub fn open(path: &Path) -> Result<Self, TrustError> {
        TrustedFolder::reached(path, false)
    }

    /// Opens a folder; it, and the folders above it, are made for this user alone where they are
    /// not there.
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
        // A folder opened to walk on cannot be read; this descriptor can be read and locked too.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = fs::openat(&reached, ".", flags, fs::Mode::empty()).map_err(at(&path))?;
        Ok(TrustedFolder { path, folder })
    }

    /// Its absolute path. No other user can make it mean another folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file in it, without following a link.
    ///
    /// # Errors
    /// [`TrustError`]: the kernel's error, or the file is not an ordinary file that belongs to this
    /// user or root alone.
    pub fn file(&self, name: impl AsRef<OsStr>, how: Open) -> Result<std::fs::File, TrustError> {
        let name = checked(name.as_ref())?;
        file::open_in(self.folder.as_fd(), &self.path, name, how)
    }

    /// Puts a file in place, whole or not at all, and replaces any file of that name.
    ///
    /// # Errors
    /// [`TrustError`]; the file is then as it was.
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

    /// A file that nobody else writes, and its name.
    fn fresh(&self) -> Result<(OsString, std::fs::File), TrustError> {
        loop {
            let count = REPLACED.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".{}.{count}.new", std::process::id()));
            match self.file(&name, Open::New) {
                // A process of the same number has it: one in another container that has this
                // folder as well, or one that died over it.
                Err(TrustError::Io { source, .. })
                    if source.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return opened.map(|file| (name, file)),
            }
        }
    }

    /// Removes a file, or a link, and not what it leads to. One that is not there is removed
    /// already.
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

    /// The names in it, in no order.
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

/// The content of a file that no other user can have written or redirected.
///
/// # Errors
/// [`TrustError`]: what the kernel says, or the file, or a folder on the way to it, is a link or
/// can be changed by others.
pub fn read(path: &Path) -> Result<Vec<u8>, TrustError> {
    let name = path.file_name().ok_or_else(|| TrustError::NotAName(path.as_os_str().to_owned()))?;
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = TrustedFolder::open(folder)?.file(name, Open::Read)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(at(path))?;
    Ok(bytes)
}

/// The longest secret that is read, in bytes.
const LONGEST_SECRET: u64 = 1 << 16;

/// The content of a file that holds a secret: no other user can have written it, and none can read
/// it. The file is judged and read on one open descriptor, and is not a link; the folders on the
/// way to it may belong to anybody.
///
/// # Errors
/// [`TrustError`].
pub fn read_secret(path: &Path) -> Result<Vec<u8>, TrustError> {
    let file = open(path, Open::Read)?;
    let mode = fs::fstat(&file).map_err(at(path))?.st_mode & 0o7777;
    if mode & 0o077 != 0 {
        return Err(TrustError::Readable { path: path.to_owned(), mode });
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_SECRET + 1).read_to_end(&mut bytes).map_err(at(path))?;
    if bytes.len() as u64 > LONGEST_SECRET {
        return Err(TrustError::TooLong(path.to_owned()));
    }
    Ok(bytes)
}

/// The content of a file of this user, of at most so many bytes: a journal to go on from. The
/// folders on the way to it may belong to anybody.
///
/// # Errors
/// [`TrustError`].
pub fn read_own(path: &Path, most_bytes: u64) -> Result<Vec<u8>, TrustError> {
    let mut bytes = Vec::new();
    open(path, Open::Read)?.take(most_bytes + 1).read_to_end(&mut bytes).map_err(at(path))?;
    if bytes.len() as u64 > most_bytes {
        return Err(TrustError::TooLong(path.to_owned()));
    }
    Ok(bytes)
}

/// Makes a folder for this user alone, or takes one that is. The folders above it may belong to
/// anybody.
///
/// # Errors
/// [`TrustError`]: it is a link, or others may write in it, or it is another user's.
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

/// A name in a folder, and not a way out of it.
fn checked(name: &OsStr) -> Result<&OsStr, TrustError> {
    let is_whole = Path::new(name).file_name() == Some(name);
    if is_whole { Ok(name) } else { Err(TrustError::NotAName(name.to_owned())) }
}

fn at<E: Into<io::Error>>(path: &Path) -> impl FnOnce(E) -> TrustError {
    move |error| TrustError::Io { path: path.to_owned(), source: error.into() }
}

#[cfg(test)]
mod tests;
