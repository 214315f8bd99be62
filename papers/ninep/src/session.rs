//! Answers one client's requests in order, without the transport.
//!
//! The client sees a root with `files`, the exported folder, and optionally `console` and `input`.

mod files;
mod tree;

use crate::fids::{FidTarget, Fids};
use crate::frame::{AROUND_DATA_BYTES, FrameHeader, LONGEST_BYTES, SHORTEST_BYTES};
use crate::host;
use crate::qid::{self, Qid};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::request::FileRequest;
use crate::wire::Malformed;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// The protocol's name.
pub const VERSION: &[u8] = b"9P2000.L";

/// The exported folder's name in the root.
pub const FILES: &[u8] = b"files";

/// The console's name there.
pub const CONSOLE: &[u8] = b"console";

/// The input's name there.
pub const INPUT: &[u8] = b"input";

/// `P9_NONUNAME`: an unspecified user.
const NOBODY: u32 = u32::MAX;

/// The root, the console and the input, in no file system.
const ROOT_QID: Qid = Qid { kind: qid::FOLDER, version: 0, path: u64::MAX };
const CONSOLE_QID: Qid = Qid { kind: 0, version: 0, path: u64::MAX - 1 };
const INPUT_QID: Qid = Qid { kind: 0, version: 0, path: u64::MAX - 2 };

/// The exported folder.
#[derive(Debug)]
pub struct ExportedFolder {
    folder: OwnedFd,
    is_read_only: bool,
}

impl ExportedFolder {
    /// An export of this folder, read-only or not.
    ///
    /// # Errors
    /// The folder does not exist or cannot be entered.
    pub fn new(folder: &Path, is_read_only: bool) -> io::Result<Self> {
        Ok(ExportedFolder::of(host::folder(folder)?, is_read_only))
    }

    /// An export of an open folder.
    pub fn of(folder: OwnedFd, is_read_only: bool) -> Self {
        ExportedFolder { folder, is_read_only }
    }
}

/// The state of one client.
pub struct FileSession {
    export: ExportedFolder,
    console: Option<Box<dyn Write>>,
    input: Option<Box<dyn Read>>,
    fids: Fids,
    agreed_bytes: u32,
    block: Vec<u8>,
}

impl FileSession {
    /// A session with this export, and a console if given.
    pub fn new(export: ExportedFolder, console: Option<Box<dyn Write>>) -> Self {
        let input = None;
        let fids = Fids::default();
        let block = Vec::new();
        FileSession { export, console, input, fids, agreed_bytes: LONGEST_BYTES, block }
    }

    /// Adds an input. While a read of it waits, the client's other requests wait too.
    pub fn with_input(mut self, input: Box<dyn Read>) -> Self {
        self.input = Some(input);
        self
    }

    /// The agreed longest message, in bytes.
    pub fn agreed_bytes(&self) -> u32 {
        self.agreed_bytes
    }

    /// Answers a request, or refuses it with a reason: the reply's frame replaces the content of
    /// `out`.
    pub fn answer(&mut self, head: FrameHeader, body: &[u8], out: &mut Vec<u8>) {
        let done = match FileRequest::parse(head.number, body) {
            Ok(request) => self.act(&request),
            Err(Malformed::Unknown(_)) => Err(Refusal::UNKNOWN),
            Err(_) => Err(Refusal::INVALID),
        };
        done.unwrap_or_else(|refusal| Reply::Error { code: refusal.0 }).frame(head.tag, out);
    }

    fn act(&mut self, request: &FileRequest<'_>) -> Result<Reply<'_>, Refusal> {
        match *request {
            FileRequest::Version { size_bytes, version } => self.agree(size_bytes, version),
            FileRequest::Attach { fid, tree, uid, .. } => self.attach(fid, tree, uid),
            FileRequest::Flush { .. } => Ok(Reply::Flush {}),
            FileRequest::Walk { fid, new, ref names } => self.walk(fid, new, names),
            FileRequest::Clunk { fid } => self.fids.remove(fid).map(|()| Reply::Clunk {}),
            FileRequest::Open { fid, flags } => self.open(fid, flags),
            FileRequest::Create { fid, name, flags, mode, .. } => {
                self.create(fid, name, flags, mode)
            }
            FileRequest::Read { fid, offset, count } => self.read(fid, offset, count),
            FileRequest::Write { fid, offset, data } => self.write(fid, offset, data.0),
            FileRequest::List { fid, offset, count } => self.list(fid, offset, count),
            FileRequest::Sync { fid, only_data } => self.sync(fid, only_data != 0),
            FileRequest::Attributes { fid, .. } => self.attributes(fid),
            FileRequest::Change { fid, ref change } => self.change(fid, change),
            FileRequest::Statfs { fid } => self.statfs(fid),
            FileRequest::Readlink { fid } => self.readlink(fid),
            FileRequest::Folder { fid, name, mode, .. } => self.make_folder(fid, name, mode),
            FileRequest::Rename { from, old, to, new } => self.rename([(from, old), (to, new)]),
            FileRequest::Remove { fid, name, flags } => self.remove(fid, name, flags),
        }
    }

    fn agree(&mut self, size_bytes: u32, version: &[u8]) -> Result<Reply<'_>, Refusal> {
        if size_bytes < SHORTEST_BYTES {
            return Err(Refusal::INVALID);
        }
        // A new session drops all numbers (version(9P)).
        self.fids.clear();
        self.agreed_bytes = size_bytes.min(LONGEST_BYTES);
        // The protocol's word for an unknown dialect.
        let version = if version == VERSION { VERSION } else { b"unknown" };
        Ok(Reply::Version { size_bytes: self.agreed_bytes, version })
    }

    fn attach(&mut self, fid: u32, tree: &[u8], uid: u32) -> Result<Reply<'_>, Refusal> {
        self.fids.is_free(fid)?;
        // A kernel acts for all users of a mount, but this process is one user.
        if ![NOBODY, 0, rustix::process::geteuid().as_raw()].contains(&uid) {
            return Err(Refusal::ACCESS);
        }
        if !matches!(tree, b"" | b"/") {
            return Err(Refusal::ABSENT);
        }
        self.fids.put(fid, FidTarget::Root);
        Ok(Reply::Attach { qid: ROOT_QID })
    }

    /// Walks along names. The new fid is valid only after the whole walk.
    fn walk(&mut self, fid: u32, new: u32, names: &[&[u8]]) -> Result<Reply<'_>, Refusal> {
        let mut node = self.fids.get(fid)?.node.again()?;
        if new != fid {
            self.fids.is_free(new)?;
        }
        let mut qids = Vec::with_capacity(names.len());
        for name in names {
            match self.step(&node, name) {
                Ok((next, qid)) => (node, _) = (next, qids.push(qid)),
                Err(refusal) if qids.is_empty() => return Err(refusal),
                // An error after the first name gives a shorter answer without a new fid
                // (walk(9P)).
                Err(_) => return Ok(Reply::Walk { qids }),
            }
        }
        self.fids.put(new, node);
        Ok(Reply::Walk { qids })
    }

    fn step(&self, node: &FidTarget, name: &[u8]) -> Result<(FidTarget, Qid), Refusal> {
        let next = match node {
            FidTarget::Root if name == FILES => FidTarget::File(self.export.folder.try_clone()?),
            FidTarget::Root if name == CONSOLE && self.console.is_some() => FidTarget::Console,
            FidTarget::Root if name == INPUT && self.input.is_some() => FidTarget::Input,
            FidTarget::Root => {
                return Err(
                    crate::name::checked(name).map_or_else(|refusal| refusal, |_| Refusal::ABSENT)
                );
            }
            FidTarget::Console | FidTarget::Input => return Err(Refusal::NO_FOLDER),
            FidTarget::File(folder) => FidTarget::File(host::below(folder.as_fd(), name)?),
        };
        let qid = qid_of(&next)?;
        Ok((next, qid))
    }

    fn changing(&self, fid: u32) -> Result<BorrowedFd<'_>, Refusal> {
        match self.fids.get(fid)?.node.file()? {
            _ if self.export.is_read_only => Err(Refusal::READ_ONLY),
            folder => Ok(folder),
        }
    }

    fn fitting(&self, count: u32) -> usize {
        count.min(self.agreed_bytes - AROUND_DATA_BYTES) as usize
    }
}

fn qid_of(node: &FidTarget) -> Result<Qid, Refusal> {
    match node {
        FidTarget::Root => Ok(ROOT_QID),
        FidTarget::Console => Ok(CONSOLE_QID),
        FidTarget::Input => Ok(INPUT_QID),
        FidTarget::File(_) => Ok(Qid::of(&host::stat(node.file()?)?)),
    }
}
