//! The client for programs: one request at a time over a connected socket.

mod content;
mod names;
mod posting;

use crate::frame::{self, AROUND_DATA_BYTES, LONGEST_BYTES};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::request::FileRequest;
use crate::session::VERSION;
use crate::wire::MOST_NAMES;
use posting::PostedWrites;
use std::fs;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::fd::FromRawFd;

/// The variable with the descriptor of a program's channel.
pub const VARIABLE: &str = "SEATMAP_9P_FD";

const ROOT: u32 = 0;

/// `NOFID` of the protocol: there is no authentication.
const NOBODY: u32 = u32::MAX;

/// `NOTAG`, only for a version request; and the tag of all other requests, one at a time.
const NO_TAG: u16 = u16::MAX;
const TAG: u16 = 0;

/// A small reply is read together with its head.
const AHEAD_BYTES: usize = 8 * 1024;

/// The access to an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Reads the file.
    Read,
    /// Writes the file or the console.
    Write,
    /// Reads and writes the file.
    Both,
}

impl OpenMode {
    fn flags(self) -> u32 {
        let flags = match self {
            OpenMode::Read => libc::O_RDONLY,
            OpenMode::Write => libc::O_WRONLY,
            OpenMode::Both => libc::O_RDWR,
        };
        flags.cast_unsigned()
    }
}

/// An open file; [`FileClient::close`] closes it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the server keeps it open until it is closed"]
pub struct OpenFile(u32);

/// A program's connection to files and a console.
///
/// Paths are relative to the root and have no `.` and `..`: `files/out/result.txt`, `console`.
#[derive(Debug)]
pub struct FileClient<S> {
    stream: BufReader<S>,
    agreed_bytes: u32,
    next: u32,
    unused: Vec<u32>,
    posted: PostedWrites,
    body: Vec<u8>,
    out: Vec<u8>,
}

/// An inherited connection; uses only read(2) and write(2), which a [fence](crate::Fence) allows.
pub type InheritedClient = FileClient<fs::File>;

impl InheritedClient {
    /// The inherited connection, if any.
    ///
    /// # Safety
    /// It is called once: the client takes over the descriptor.
    ///
    /// # Errors
    /// The server does not answer.
    pub unsafe fn inherited() -> io::Result<Option<Self>> {
        let number = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok());
        // SAFETY: the caller promises that nothing else has taken it.
        let stream = number.map(|number| unsafe { fs::File::from_raw_fd(number) });
        stream.map(FileClient::new).transpose()
    }
}

impl<S: Read + Write> FileClient<S> {
    /// Agrees on the protocol and attaches to the server's root.
    ///
    /// # Errors
    /// The server does not answer, or does not speak 9P2000.L.
    pub fn new(stream: S) -> io::Result<Self> {
        let mut client = FileClient {
            stream: BufReader::with_capacity(AHEAD_BYTES, stream),
            agreed_bytes: LONGEST_BYTES,
            next: ROOT + 1,
            unused: Vec::new(),
            posted: PostedWrites::default(),
            body: Vec::new(),
            out: Vec::new(),
        };
        client.agreed_bytes = client.agree()?;
        client.ask(&FileRequest::Attach {
            fid: ROOT,
            auth: NOBODY,
            user: b"",
            tree: b"",
            uid: NOBODY,
        })?;
        Ok(client)
    }

    fn agree(&mut self) -> io::Result<u32> {
        let request = FileRequest::Version { size_bytes: LONGEST_BYTES, version: VERSION };
        match self.ask(&request)? {
            Reply::Version { size_bytes, version }
                // A server may want shorter messages, with at least a byte of data.
                if version == VERSION
                    && (AROUND_DATA_BYTES + 1..=LONGEST_BYTES).contains(&size_bytes) =>
            {
                Ok(size_bytes)
            }
            _ => {
                Err(io::Error::new(ErrorKind::InvalidData, "the other end does not speak 9P2000.L"))
            }
        }
    }

    /// The most bytes of a read or write request.
    pub fn unit_bytes(&self) -> usize {
        (self.agreed_bytes - AROUND_DATA_BYTES) as usize
    }

    /// Opens a file.
    ///
    /// # Errors
    /// The server's error.
    pub fn open(&mut self, path: &str, access: OpenMode) -> io::Result<OpenFile> {
        let fid = self.walk(path)?;
        let outcome = self.ask(&FileRequest::Open { fid, flags: access.flags() }).map(|_| ());
        self.unless(outcome, fid)
    }

    /// Opens a file for writing, emptied or newly created.
    ///
    /// # Errors
    /// The server's error.
    pub fn create(&mut self, path: &str) -> io::Result<OpenFile> {
        let (folder, name) = split(path);
        let flags = OpenMode::Both.flags();
        let fid = self.walk(folder)?;
        let outcome = self.ask(&FileRequest::Create {
            fid,
            name: name.as_bytes(),
            flags,
            mode: 0o644,
            gid: NOBODY,
        });
        let outcome = outcome.map(|_| ());
        match self.unless(outcome, fid) {
            // No request creates or opens, so an existing file is emptied.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let fid = self.walk(path)?;
                let flags = flags | libc::O_TRUNC.cast_unsigned();
                let outcome = self.ask(&FileRequest::Open { fid, flags }).map(|_| ());
                self.unless(outcome, fid)
            }
            other => other,
        }
    }

    /// Closes a file.
    ///
    /// # Errors
    /// The server has exited.
    pub fn close(&mut self, file: OpenFile) -> io::Result<()> {
        self.forget(file.0)
    }

    fn unless(&mut self, outcome: io::Result<()>, fid: u32) -> io::Result<OpenFile> {
        match outcome {
            Ok(()) => Ok(OpenFile(fid)),
            Err(error) => self.forget(fid).and(Err(error)),
        }
    }

    fn forget(&mut self, fid: u32) -> io::Result<()> {
        // The server drops a fid in any case (clunk(5)).
        self.unused.push(fid);
        self.ask(&FileRequest::Clunk { fid }).map(|_| ())
    }

    fn walk(&mut self, path: &str) -> io::Result<u32> {
        let names: Vec<&[u8]> =
            path.split('/').filter(|name| !name.is_empty()).map(str::as_bytes).collect();
        // Freed numbers come first, so that numbers stay low.
        let new = self.unused.pop().unwrap_or(self.next);
        let (first, rest) = names.split_at(names.len().min(MOST_NAMES));
        if let Err(error) = self.walk_on(ROOT, new, first) {
            self.unused.push(new);
            return Err(error);
        }
        self.next = self.next.max(new + 1);
        for names in rest.chunks(MOST_NAMES) {
            if let Err(error) = self.walk_on(new, new, names) {
                return self.forget(new).and(Err(error));
            }
        }
        Ok(new)
    }

    fn walk_on(&mut self, fid: u32, new: u32, names: &[&[u8]]) -> io::Result<()> {
        match self.ask(&FileRequest::Walk { fid, new, names: names.to_vec() })? {
            Reply::Walk { qids } if qids.len() == names.len() => Ok(()),
            // Only an error in the first step has a reason, so walk again from the last file.
            Reply::Walk { qids } if (1..names.len()).contains(&qids.len()) => {
                let (walked, rest) = names.split_at(qids.len());
                self.walk_in_two(fid, new, walked, rest)
            }
            _ => Err(nonsense()),
        }
    }

    fn walk_in_two(
        &mut self,
        fid: u32,
        new: u32,
        walked: &[&[u8]],
        rest: &[&[u8]],
    ) -> io::Result<()> {
        self.walk_on(fid, new, walked)?;
        let why = self.walk_on(new, new, rest);
        // The first part used the fid.
        if why.is_err() && fid != new {
            self.ask(&FileRequest::Clunk { fid: new })?;
        }
        why
    }

    fn ask(&mut self, request: &FileRequest<'_>) -> io::Result<Reply<'_>> {
        self.hear_posted(0)?;
        let tag = if matches!(request, FileRequest::Version { .. }) { NO_TAG } else { TAG };
        request.frame(tag, &mut self.out);
        self.stream.get_mut().write_all(&self.out)?;
        let head = frame::read(&mut self.stream, self.agreed_bytes, &mut self.body)?;
        let head = head.ok_or_else(frame::closed)?;
        let reply = Reply::parse(head.number, &self.body).map_err(|_| nonsense())?;
        match reply {
            Reply::Error { code } if head.tag == tag => Err(Refusal(code).into()),
            // A reply's number is one higher than that of its request.
            reply if head.tag == tag && head.number == request.number() + 1 => Ok(reply),
            _ => Err(nonsense()),
        }
    }
}

fn split(path: &str) -> (&str, &str) {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').unwrap_or(("", path))
}

fn nonsense() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the server's answer does not match the request")
}
