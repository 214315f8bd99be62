//! Writing without waiting: a program that only writes need not sleep once a request.
//!
//! The server answers requests in their order, so that the replies to posted requests come before
//! the reply to the next request.

use super::{FileClient, OpenFile, nonsense};
use crate::frame;
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::request::FileRequest;
use crate::wire::Data;
use std::io::{self, ErrorKind, Read, Write};

/// How many requests may be unanswered: a guess. Their replies, of eleven bytes, must fit into a
/// socket's buffer, or both ends would wait for the other to read.
const MOST_POSTED: usize = 64;

/// Small requests are sent together when they are this long: sending wakes the other end, which
/// costs more than the bytes.
const GATHERED_BYTES: usize = 32 * 1024;

/// Writes that were posted and not yet answered, the oldest first: how long each is, in bytes.
#[derive(Debug, Default)]
pub(super) struct PostedWrites {
    lengths: std::collections::VecDeque<usize>,
    /// The first failure, until the caller is told.
    failure: Option<io::Error>,
    tag: u16,
    /// Requests that are still to be sent.
    unsent: Vec<u8>,
}

impl<S: Read + Write> FileClient<S> {
    /// Writes all of it at an offset, and does not wait for it to be done, or sent.
    /// [`FileClient::settle`] does, and so does whatever else is asked; what was posted and not
    /// settled may be lost with the client.
    ///
    /// # Errors
    /// The server has gone. A failed write is reported by `settle`.
    pub fn post(&mut self, file: &OpenFile, mut offset: u64, data: &[u8]) -> io::Result<()> {
        for block in data.chunks(self.unit_bytes()) {
            if self.posted.lengths.len() >= MOST_POSTED {
                // Half of the replies at once, so that both ends have work meanwhile.
                self.hear_posted(MOST_POSTED / 2)?;
            }
            // Tag 0 is that of requests that are waited for.
            self.posted.tag = self.posted.tag % MOST_POSTED as u16 + 1;
            FileRequest::Write { fid: file.0, offset, data: Data(block) }
                .frame(self.posted.tag, &mut self.out);
            self.posted.unsent.extend_from_slice(&self.out);
            if self.posted.unsent.len() >= GATHERED_BYTES {
                self.send_posted()?;
            }
            self.posted.lengths.push_back(block.len());
            offset += block.len() as u64;
        }
        Ok(())
    }

    /// Waits until all that was posted is written.
    ///
    /// # Errors
    /// The server's error for the first write that failed.
    pub fn settle(&mut self) -> io::Result<()> {
        self.hear_posted(0)?;
        self.posted.failure.take().map_or(Ok(()), Err)
    }

    fn send_posted(&mut self) -> io::Result<()> {
        self.stream.get_mut().write_all(&self.posted.unsent)?;
        self.posted.unsent.clear();
        Ok(())
    }

    /// Hears what became of the oldest, until no more than these are unanswered.
    pub(super) fn hear_posted(&mut self, most: usize) -> io::Result<()> {
        if self.posted.lengths.len() > most {
            self.send_posted()?;
        }
        while self.posted.lengths.len() > most {
            let length = self.posted.lengths.pop_front().unwrap_or_default();
            if let Some(failure) = self.hear_one(length)? {
                self.posted.failure.get_or_insert(failure);
            }
        }
        Ok(())
    }

    /// Why the oldest, of this length, was not written.
    fn hear_one(&mut self, length: usize) -> io::Result<Option<io::Error>> {
        let head = frame::read(&mut self.stream, self.agreed_bytes, &mut self.body)?;
        let head = head.ok_or_else(frame::closed)?;
        match Reply::parse(head.number, &self.body) {
            Ok(Reply::Write { count }) if count as usize == length => Ok(None),
            // A shorter count is a failure: the data behind it was posted at its own offset
            // already.
            Ok(Reply::Write { count }) if (count as usize) < length => {
                Ok(Some(ErrorKind::WriteZero.into()))
            }
            Ok(Reply::Error { code }) => Ok(Some(Refusal(code).into())),
            _ => Err(nonsense()),
        }
    }
}
