//! Walks from `/` down to a folder and checks each step.

use super::{TrustError, at};
use crate::whole_file::push_names;
use rustix::fs::{self, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The kernel's limit (path_resolution(7)).
const MOST_LINKS: u32 = 40;

/// Write permission for group and others.
const OTHERS: u32 = 0o022;

/// `S_ISVTX`: only a file's owner may rename or remove it.
const STICKY: u32 = 0o1000;

struct Walk {
    /// Start of absolute links.
    top: PathBuf,
    at: OwnedFd,
    /// For errors.
    path: PathBuf,
    names: Vec<OsString>,
    links: u32,
    last_may_be_link: bool,
}

/// Walks to the folder at an absolute path and returns an `O_PATH` descriptor.
pub fn down(path: &Path, is_made: bool) -> Result<OwnedFd, TrustError> {
    let mut walk = Walk::begin(Path::new("/"), path)?;
    while let Some(name) = walk.names.pop() {
        let found = fs::fstat(&walk.at).map_err(at(&walk.path))?;
        check_above(&walk.path, &found)?;
        walk.step(name, &found, is_made)?;
    }
    Ok(walk.at)
}

/// Walks to a folder of control files below `top`, of any user because of delegation. Follows a
/// link only if root or this user made it.
pub fn to_control_folder(top: &Path, path: &Path) -> Result<OwnedFd, TrustError> {
    let mut walk = Walk::begin(top, path)?;
    walk.last_may_be_link = true;
    while let Some(name) = walk.names.pop() {
        let found = fs::fstat(&walk.at).map_err(at(&walk.path))?;
        walk.step(name, &found, false)?;
    }
    Ok(walk.at)
}

/// A descriptor of a folder of any user, by a path that no other user can change: the folder is not
/// a link, and the folders above it are trusted.
///
/// # Errors
/// [`TrustError`].
pub fn reach(path: &Path) -> Result<OwnedFd, TrustError> {
    down(&std::path::absolute(path).map_err(at(path))?, false)
}

fn top(path: &Path) -> Result<OwnedFd, TrustError> {
    fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(at(path))
}

impl Walk {
    fn begin(from: &Path, path: &Path) -> Result<Self, TrustError> {
        let mut walk = Walk {
            top: from.to_owned(),
            at: top(from)?,
            path: PathBuf::from("/"),
            names: Vec::new(),
            links: 0,
            last_may_be_link: false,
        };
        push_names(&mut walk.names, path);
        Ok(walk)
    }

    fn step(&mut self, name: OsString, above: &Stat, is_made: bool) -> Result<(), TrustError> {
        let path = self.path.join(&name);
        let next = match self.look(&name) {
            Err(Errno::NOENT) if is_made => self.make(&name).and_then(|()| self.look(&name)),
            found => found,
        };
        let next = next.map_err(at(&path))?;
        let found = fs::fstat(&next).map_err(at(&path))?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => (self.at, self.path) = (next, path),
            FileType::Symlink if self.last_may_be_link || !self.names.is_empty() => {
                self.follow(&next, &path, &found, above)?
            }
            _ => return Err(TrustError::NotAFolder(path)),
        }
        Ok(())
    }

    fn look(&self, name: &OsStr) -> rustix::io::Result<OwnedFd> {
        fs::openat(&self.at, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
    }

    fn make(&self, name: &OsStr) -> rustix::io::Result<()> {
        match fs::mkdirat(&self.at, name, Mode::RWXU) {
            // Another process created it; the next check sees its owner.
            Err(Errno::EXIST) => Ok(()),
            other => other,
        }
    }

    /// Follows a link if only root or this user can have made it.
    fn follow(
        &mut self,
        link: &OwnedFd,
        path: &Path,
        found: &Stat,
        above: &Stat,
    ) -> Result<(), TrustError> {
        check_owner(path, found)?;
        check_owner(path, above)?;
        if above.st_mode & OTHERS != 0 {
            return Err(TrustError::NotAFolder(path.to_owned()));
        }
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(at(path)(io::Error::from(Errno::LOOP)));
        }
        let target = fs::readlinkat(link.as_fd(), "", Vec::new()).map_err(at(path))?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            (self.at, self.path) = (top(&self.top)?, PathBuf::from("/"));
        }
        push_names(&mut self.names, &target);
        Ok(())
    }
}

pub fn check_owner(path: &Path, found: &Stat) -> Result<(), TrustError> {
    match found.st_uid {
        0 => Ok(()),
        own if own == rustix::process::geteuid().as_raw() => Ok(()),
        owner => Err(TrustError::Foreign { path: path.to_owned(), owner }),
    }
}

fn check_above(path: &Path, found: &Stat) -> Result<(), TrustError> {
    check_owner(path, found)?;
    let is_kept = found.st_mode & STICKY != 0 && found.st_uid == 0;
    if is_kept { Ok(()) } else { check_mode(path, found) }
}

pub fn check_last(path: &Path, folder: &OwnedFd) -> Result<(), TrustError> {
    let found = fs::fstat(folder).map_err(at(path))?;
    if found.st_uid != rustix::process::geteuid().as_raw() {
        return Err(TrustError::Foreign { path: path.to_owned(), owner: found.st_uid });
    }
    check_mode(path, &found)
}

pub fn check_mode(path: &Path, found: &Stat) -> Result<(), TrustError> {
    match found.st_mode & OTHERS {
        0 => Ok(()),
        _ => Err(TrustError::Writable { path: path.to_owned(), mode: found.st_mode & 0o7777 }),
    }
}
