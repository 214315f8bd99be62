//! Opens files without following links.

use super::walk::{check_mode, check_owner};
use super::{TrustError, at};
use crate::whole_file::folder_of;
use rustix::fs::{self, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Open {
    /// For reading; it must exist.
    Read,
    /// For reading and writing; created if missing, otherwise kept.
    Keep,
    /// For writing from the start; created if missing, otherwise emptied.
    Empty,
    /// For appending; it must exist.
    Append,
    /// For writing; it must not exist.
    New,
}

impl Open {
    fn flags(self) -> OFlags {
        match self {
            Open::Read => OFlags::RDONLY,
            // Emptied only after the check.
            Open::Keep | Open::Empty => OFlags::RDWR | OFlags::CREATE,
            Open::Append => OFlags::WRONLY | OFlags::APPEND,
            Open::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
        }
    }
}

/// Opens a file in any folder. The folder's path may contain links; the file must not be one.
///
/// # Errors
/// [`TrustError`]: the kernel's error, or the file is not an ordinary one of this user or root
/// alone.
pub fn open(path: &Path, how: Open) -> Result<File, TrustError> {
    let name = name_of(path)?;
    let parent = folder_of(path);
    let folder = File::open(parent).map_err(at(parent))?;
    open_in(folder.as_fd(), parent, name, how)
}

pub fn name_of(path: &Path) -> Result<&OsStr, TrustError> {
    path.file_name().ok_or_else(|| TrustError::NotAName(path.as_os_str().to_owned()))
}

pub fn open_in(
    folder: BorrowedFd<'_>,
    above: &Path,
    name: &OsStr,
    how: Open,
) -> Result<File, TrustError> {
    let path = above.join(name);
    // Opening a pipe would block; an ordinary file ignores the flag.
    let flags =
        how.flags() | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = match fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => File::from(file),
        // A link, a pipe without a reader, or a socket.
        Err(Errno::LOOP | Errno::NXIO) => return Err(TrustError::NotAFile(path)),
        Err(errno) => return Err(at(&path)(io::Error::from(errno))),
    };
    check(&path, &file)?;
    if how == Open::Empty {
        file.set_len(0).map_err(at(&path))?;
    }
    Ok(file)
}

/// In a shared folder, another user may have given the file a second name elsewhere.
fn check(path: &Path, file: &File) -> Result<(), TrustError> {
    let found = fs::fstat(file).map_err(at(path))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile || found.st_nlink > 1 {
        return Err(TrustError::NotAFile(path.to_owned()));
    }
    check_owner(path, &found)?;
    check_mode(path, &found)
}
