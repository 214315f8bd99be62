//! File attributes, and operations on names.

use super::{CONSOLE_QID, FileSession, INPUT_QID, ROOT_QID};
use crate::attributes::{AttributeChange, BASIC, FileAttributes};
use crate::fids::FidTarget;
use crate::host;
use crate::qid::Qid;
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::space::Space;
use rustix::fs;
use std::os::fd::AsFd;

/// All users may read the root.
const ROOT_MODE: u32 = libc::S_IFDIR | 0o555;

/// Ordinary files for a client, because its kernel would open a device by itself.
const CONSOLE_MODE: u32 = libc::S_IFREG | 0o222;
const INPUT_MODE: u32 = libc::S_IFREG | 0o444;

impl FileSession {
    pub(super) fn attributes(&mut self, fid: u32) -> Result<Reply<'_>, Refusal> {
        let (qid, attributes) = match &self.fids.get(fid)?.node {
            FidTarget::Root => (ROOT_QID, made_up(ROOT_MODE, 3)),
            FidTarget::Console => (CONSOLE_QID, made_up(CONSOLE_MODE, 1)),
            FidTarget::Input => (INPUT_QID, made_up(INPUT_MODE, 1)),
            FidTarget::File(file) => {
                let stat = host::stat(file.as_fd())?;
                (Qid::of(&stat), FileAttributes::from(&stat))
            }
        };
        Ok(Reply::Attributes { valid: BASIC, qid, attributes })
    }

    pub(super) fn change(
        &mut self,
        fid: u32,
        change: &AttributeChange,
    ) -> Result<Reply<'_>, Refusal> {
        let fid = self.fids.get(fid)?;
        match &fid.node {
            FidTarget::Root | FidTarget::Input => return Err(Refusal::ACCESS),
            // A client that opens it to overwrite it truncates it first, which has no effect.
            FidTarget::Console => {}
            FidTarget::File(_) if self.export.is_read_only => return Err(Refusal::READ_ONLY),
            FidTarget::File(file) => host::change(file.as_fd(), fid.opened.file(), change)?,
        }
        Ok(Reply::Change {})
    }

    pub(super) fn statfs(&mut self, fid: u32) -> Result<Reply<'_>, Refusal> {
        let file = match &self.fids.get(fid)?.node {
            FidTarget::File(file) => file,
            FidTarget::Root | FidTarget::Console | FidTarget::Input => &self.export.folder,
        };
        Ok(Reply::Statfs { space: Space::from(&fs::fstatfs(file)?) })
    }

    pub(super) fn readlink(&mut self, fid: u32) -> Result<Reply<'_>, Refusal> {
        let file = self.fids.get(fid)?.node.file()?;
        if !host::kind(file)?.is_symlink() {
            return Err(Refusal::INVALID);
        }
        self.block = host::target(file)?;
        Ok(Reply::Readlink { target: &self.block })
    }

    pub(super) fn make_folder(
        &mut self,
        fid: u32,
        name: &[u8],
        mode: u32,
    ) -> Result<Reply<'_>, Refusal> {
        let made = host::make_folder(self.changing(fid)?, name, mode)?;
        Ok(Reply::Folder { qid: Qid::of(&host::stat(made.as_fd())?) })
    }

    pub(super) fn rename(
        &mut self,
        [(from, old), (to, new)]: [(u32, &[u8]); 2],
    ) -> Result<Reply<'_>, Refusal> {
        host::rename(self.changing(from)?, old, self.changing(to)?, new)?;
        Ok(Reply::Rename {})
    }

    pub(super) fn remove(
        &mut self,
        fid: u32,
        name: &[u8],
        flags: u32,
    ) -> Result<Reply<'_>, Refusal> {
        host::remove(self.changing(fid)?, name, flags)?;
        Ok(Reply::Remove {})
    }
}

fn made_up(mode: u32, links: u64) -> FileAttributes {
    FileAttributes { mode, links, block_bytes: 4096, ..FileAttributes::default() }
}
