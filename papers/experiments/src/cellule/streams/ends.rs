//! Senders and sinks.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// Bytes of each write and read: about the amount that a connection over the loopback carries at
/// once.
pub const CHUNK: usize = 64 << 10;
/// A stream's pattern begins anew after this many bytes. The number is prime, so that a lost or
/// doubled chunk shows.
const PERIOD: usize = 251;

/// When a sender has done enough: whichever comes first.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    pub end: Option<Instant>,
    pub bytes: u64,
}

impl Amount {
    /// Any number of bytes until this time.
    pub fn until(end: Instant) -> Self {
        Amount { end: Some(end), bytes: u64::MAX }
    }

    /// The part of a chunk that may go now, after this many bytes.
    fn next(self, sent: u64) -> usize {
        let is_over = self.end.is_some_and(|end| Instant::now() >= end);
        if is_over { 0 } else { self.bytes.saturating_sub(sent).min(CHUNK as u64) as usize }
    }
}

/// A stream's bytes, a chunk long from any place of the period on.
fn pattern(stream: usize) -> Vec<u8> {
    // Other bytes for each stream, so that a chunk that went to the wrong sink shows.
    (0..CHUNK + PERIOD).map(|at| ((at % PERIOD) ^ (stream * 0x55)) as u8).collect()
}

/// Sends, and says how much it was; `None` where the connection broke.
pub fn source(stream: usize, mut to: TcpStream, amount: Amount) -> Option<u64> {
    let pattern = pattern(stream);
    let mut sent = 0_u64;
    loop {
        let bytes = amount.next(sent);
        if bytes == 0 {
            // The end of the stream, by which the service knows that no more comes.
            to.shutdown(Shutdown::Write).ok()?;
            return Some(sent);
        }
        to.write_all(&pattern[(sent % PERIOD as u64) as usize..][..bytes]).ok()?;
        sent += bytes as u64;
    }
}

/// Takes all there is, and says how much it was; `None` where the connection broke or brought other
/// bytes.
pub fn sink(stream: usize, mut from: TcpStream) -> Option<u64> {
    let pattern = pattern(stream);
    let mut chunk = vec![0; CHUNK];
    let mut got = 0_u64;
    loop {
        let bytes = from.read(&mut chunk).ok()?;
        if bytes == 0 {
            return Some(got);
        }
        if chunk[..bytes] != pattern[(got % PERIOD as u64) as usize..][..bytes] {
            return None;
        }
        got += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::super::connected;
    use super::*;

    #[test]
    fn a_changed_byte_is_seen() {
        let (mut there, here) = connected().unwrap();
        let mut bytes = pattern(1)[..1000].to_vec();
        bytes[900] ^= 1;
        there.write_all(&bytes).unwrap();
        drop(there);
        assert_eq!(sink(1, here), None);
    }
}
