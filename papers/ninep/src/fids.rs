//! A client's numbers of files.

use crate::host;
use crate::refusal::Refusal;
use rustix::fs::OFlags;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The most fids of one client. Each uses up to two descriptors of the server.
pub const MOST_FIDS: usize = 1024;

#[derive(Debug)]
pub enum FidTarget {
    Root,
    Console,
    Input,
    File(OwnedFd),
}

impl FidTarget {
    /// A second handle of the file.
    pub fn again(&self) -> Result<Self, Refusal> {
        Ok(match self {
            FidTarget::Root => FidTarget::Root,
            FidTarget::Console => FidTarget::Console,
            FidTarget::Input => FidTarget::Input,
            FidTarget::File(file) => FidTarget::File(file.try_clone()?),
        })
    }

    pub fn file(&self) -> Result<BorrowedFd<'_>, Refusal> {
        match self {
            FidTarget::File(file) => Ok(file.as_fd()),
            FidTarget::Root | FidTarget::Console | FidTarget::Input => Err(Refusal::ACCESS),
        }
    }
}

#[derive(Debug)]
pub enum Opened {
    Not,
    Root,
    Console,
    Input,
    Folder(OwnedFd),
    File(OwnedFd),
}

impl Opened {
    /// Opens a file.
    pub fn of(node: &FidTarget, flags: u32) -> Result<Self, Refusal> {
        let file = match node {
            FidTarget::Root if host::may_change(flags) => return Err(Refusal::FOLDER),
            FidTarget::Root => return Ok(Opened::Root),
            FidTarget::Console
                if OFlags::from_bits_retain(flags) & OFlags::ACCMODE == OFlags::WRONLY =>
            {
                return Ok(Opened::Console);
            }
            FidTarget::Input if !host::may_change(flags) => return Ok(Opened::Input),
            FidTarget::Console | FidTarget::Input => return Err(Refusal::ACCESS),
            FidTarget::File(file) => file.as_fd(),
        };
        if !(host::kind(file)?.is_dir()) {
            host::open_file(file, flags).map(Opened::File)
        } else if host::may_change(flags) {
            Err(Refusal::FOLDER)
        } else {
            host::open_folder(file).map(Opened::Folder)
        }
    }

    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Opened::File(file) => Some(file.as_fd()),
            Opened::Not | Opened::Root | Opened::Console | Opened::Input | Opened::Folder(_) => {
                None
            }
        }
    }
}

#[derive(Debug)]
pub struct Fid {
    pub node: FidTarget,
    pub opened: Opened,
}

#[derive(Debug, Default)]
pub struct Fids(BTreeMap<u32, Fid>);

impl Fids {
    pub fn get(&self, fid: u32) -> Result<&Fid, Refusal> {
        self.0.get(&fid).ok_or(Refusal::FID)
    }

    pub fn get_mut(&mut self, fid: u32) -> Result<&mut Fid, Refusal> {
        self.0.get_mut(&fid).ok_or(Refusal::FID)
    }

    /// Checks that a fid is unused, and that the client may have another one.
    pub fn is_free(&self, fid: u32) -> Result<(), Refusal> {
        match (self.0.contains_key(&fid), self.0.len() < MOST_FIDS) {
            (true, _) => Err(Refusal::FID),
            (false, false) => Err(Refusal::MANY),
            (false, true) => Ok(()),
        }
    }

    /// Numbers an unopened file.
    pub fn put(&mut self, fid: u32, node: FidTarget) {
        self.0.insert(fid, Fid { node, opened: Opened::Not });
    }

    pub fn remove(&mut self, fid: u32) -> Result<(), Refusal> {
        self.0.remove(&fid).map(|_| ()).ok_or(Refusal::FID)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}
