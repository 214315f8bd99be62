//! Open files and folders.

use super::{CONSOLE, CONSOLE_QID, FILES, FileSession, INPUT, INPUT_QID, ROOT_QID, qid_of};
use crate::entry::FolderEntry;
use crate::fids::{FidTarget, Opened};
use crate::host;
use crate::qid::{self, Qid};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::wire::Data;
use rustix::fs::{self, FileType, RawDir, SeekFrom};
use rustix::io as raw;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

/// The bytes of a folder read at once.
const LISTED_BYTES: usize = 16 * 1024;

impl FileSession {
    pub(super) fn open(&mut self, fid: u32, flags: u32) -> Result<Reply<'_>, Refusal> {
        let is_read_only = self.export.is_read_only;
        let fid = self.fids.get_mut(fid)?;
        if !matches!(fid.opened, Opened::Not) {
            return Err(Refusal::FID);
        }
        if is_read_only && host::may_change(flags) && matches!(fid.node, FidTarget::File(_)) {
            return Err(Refusal::READ_ONLY);
        }
        fid.opened = Opened::of(&fid.node, flags)?;
        Ok(Reply::Open { qid: qid_of(&fid.node)?, unit_bytes: 0 })
    }

    pub(super) fn create(
        &mut self,
        fid: u32,
        name: &[u8],
        flags: u32,
        mode: u32,
    ) -> Result<Reply<'_>, Refusal> {
        if !matches!(self.fids.get(fid)?.opened, Opened::Not) {
            return Err(Refusal::FID);
        }
        let (named, opened) = host::create(self.changing(fid)?, name, flags, mode)?;
        let fid = self.fids.get_mut(fid)?;
        (fid.node, fid.opened) = (FidTarget::File(named), Opened::File(opened));
        Ok(Reply::Create { qid: qid_of(&fid.node)?, unit_bytes: 0 })
    }

    pub(super) fn read(&mut self, fid: u32, offset: u64, count: u32) -> Result<Reply<'_>, Refusal> {
        let count = self.fitting(count);
        if self.block.len() < count {
            self.block.resize(count, 0);
        }
        let into = self.block.get_mut(..count).unwrap_or_default();
        let count = match (&self.fids.get(fid)?.opened, &mut self.input) {
            (Opened::File(file), _) => raw::pread(file, into, offset)?,
            // The input has no offsets.
            (Opened::Input, Some(input)) => input.read(into)?,
            _ => return Err(Refusal::FID),
        };
        Ok(Reply::Read { data: Data(self.block.get(..count).unwrap_or_default()) })
    }

    pub(super) fn write(
        &mut self,
        fid: u32,
        offset: u64,
        data: &[u8],
    ) -> Result<Reply<'_>, Refusal> {
        let count = match (&self.fids.get(fid)?.opened, &mut self.console) {
            (Opened::File(file), _) => raw::pwrite(file, data, offset)?,
            (Opened::Console, Some(console)) => console.write(data)?,
            _ => return Err(Refusal::FID),
        };
        Ok(Reply::Write { count: count as u32 })
    }

    pub(super) fn sync(&mut self, fid: u32, only_data: bool) -> Result<Reply<'_>, Refusal> {
        match (&self.fids.get(fid)?.opened, only_data) {
            (Opened::Not, _) => return Err(Refusal::FID),
            (Opened::File(file) | Opened::Folder(file), true) => fs::fdatasync(file)?,
            (Opened::File(file) | Opened::Folder(file), false) => fs::fsync(file)?,
            (Opened::Root | Opened::Console | Opened::Input, _) => {}
        }
        Ok(Reply::Sync {})
    }

    pub(super) fn list(&mut self, fid: u32, offset: u64, count: u32) -> Result<Reply<'_>, Refusal> {
        let most_bytes = self.fitting(count);
        self.block.clear();
        match &self.fids.get(fid)?.opened {
            Opened::Root => {
                let has = [self.console.is_some(), self.input.is_some()];
                list_root(has, offset, most_bytes, &mut self.block);
            }
            Opened::Folder(folder) => {
                list_folder(folder.as_fd(), offset, most_bytes, &mut self.block)?
            }
            Opened::Not | Opened::Console | Opened::Input | Opened::File(_) => {
                return Err(Refusal::FID);
            }
        }
        Ok(Reply::List { entries: Data(&self.block) })
    }
}

fn list_root(
    [has_console, has_input]: [bool; 2],
    offset: u64,
    most_bytes: usize,
    out: &mut Vec<u8>,
) {
    let files = entry(Qid { path: 0, ..ROOT_QID }, 1, FileType::Directory, FILES);
    let console = entry(CONSOLE_QID, 2, FileType::RegularFile, CONSOLE);
    let input = entry(INPUT_QID, 3, FileType::RegularFile, INPUT);
    let all = [Some(files), has_console.then_some(console), has_input.then_some(input)];
    all.into_iter()
        .flatten()
        .filter(|entry| entry.offset > offset)
        .all(|entry| entry.fits_into(out, most_bytes));
}

fn entry(qid: Qid, offset: u64, kind: FileType, name: &[u8]) -> FolderEntry<'_> {
    FolderEntry { qid, offset, kind: dirent(kind), name }
}

fn list_folder(
    folder: BorrowedFd<'_>,
    offset: u64,
    most_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    // The file system itself has chosen these offsets.
    fs::seek(folder, SeekFrom::Start(offset))?;
    let device = qid::device(&host::stat(folder)?);
    let mut buffer = [MaybeUninit::uninit(); LISTED_BYTES];
    let mut found = RawDir::new(folder, &mut buffer);
    while let Some(entry) = found.next() {
        let entry = entry?;
        let kind = entry.file_type();
        let qid = Qid { kind: qid::kind(kind), version: 0, path: qid::path(device, entry.ino()) };
        let name = entry.file_name().to_bytes();
        let entry =
            FolderEntry { qid, offset: entry.next_entry_cookie(), kind: dirent(kind), name };
        match (entry.fits_into(out, most_bytes), out.is_empty()) {
            (true, _) => {}
            // An empty reply would mean the folder's end.
            (false, true) => return Err(Refusal::INVALID),
            (false, false) => break,
        }
    }
    Ok(())
}

/// `DT_*` of readdir(3): a mode's file type, shifted (`IFTODT`).
fn dirent(kind: FileType) -> u8 {
    match kind {
        FileType::Unknown => 0,
        kind => (kind.as_raw_mode() >> 12) as u8,
    }
}
