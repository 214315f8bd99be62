//! Writes without waiting.
//!
//! The server answers in order, so the replies to posted requests come before the next request's.

use super::{FileClient, OpenFile, nonsense};
use crate::frame;
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::request::FileRequest;
use crate::wire::Data;
use std::io::{self, ErrorKind, Read, Write};

/// The most unanswered requests, a guess. Their replies of 11 bytes must fit into a socket's
/// buffer, or both ends would wait for each other.
const MOST_POSTED: usize = 64;

/// Small requests are collected up to this length, because waking the other end costs more than the
/// bytes.
const GATHERED_BYTES: usize = 32 * 1024;

/// Lengths in bytes, oldest first.
#[derive(Debug, Default)]
pub struct PostedWrites {
    lengths: std::collections::VecDeque<usize>,
    failure: Option<io::Error>,
    tag: u16,
    unsent: Vec<u8>,
}

impl<S: Read + Write> FileClient<S> {
    /// Writes all data at an offset, but waits for neither write nor transmission.
    /// [`FileClient::settle`] and all other requests do. Unsettled data may be lost with the
    /// client.
    ///
    /// # Errors
    /// The server has exited. `settle` reports a failed write.
    pub fn post(&mut self, file: &OpenFile, mut offset: u64, data: &[u8]) -> io::Result<()> {
        for block in data.chunks(self.unit_bytes()) {
            if self.posted.lengths.len() >= MOST_POSTED {
                // Half of the replies are read at once, so that both ends have work.
                self.hear_posted(MOST_POSTED / 2)?;
            }
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

    /// Waits until all posted data is written.
    ///
    /// # Errors
    /// The server's error for the first failed write.
    pub fn settle(&mut self) -> io::Result<()> {
        self.hear_posted(0)?;
        self.posted.failure.take().map_or(Ok(()), Err)
    }

    fn send_posted(&mut self) -> io::Result<()> {
        self.stream.get_mut().write_all(&self.posted.unsent)?;
        self.posted.unsent.clear();
        Ok(())
    }

    /// Reads the oldest replies until at most `most` are missing.
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

    /// Reads the reply to the oldest write, of this length; returns its failure.
    fn hear_one(&mut self, length: usize) -> io::Result<Option<io::Error>> {
        let head = frame::read(&mut self.stream, self.agreed_bytes, &mut self.body)?;
        let head = head.ok_or_else(frame::closed)?;
        match Reply::parse(head.number, &self.body) {
            Ok(Reply::Write { count }) if count as usize == length => Ok(None),
            // A shorter count is a failure, because the data after it was posted with its own
            // offset.
            Ok(Reply::Write { count }) if (count as usize) < length => {
                Ok(Some(ErrorKind::WriteZero.into()))
            }
            Ok(Reply::Error { code }) => Ok(Some(Refusal(code).into())),
            _ => Err(nonsense()),
        }
    }
}
