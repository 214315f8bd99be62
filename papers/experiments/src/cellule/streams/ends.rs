//! Senders and sinks.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// Bytes of each write and read: about as many as a connection over the loopback carries at once.
pub const CHUNK: usize = 64 << 10;
/// The period of a stream's bytes: a prime, so that a lost or doubled chunk shows.
const PERIOD: usize = 251;

/// A sender's limits: the first reached one ends it.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    pub end: Option<Instant>,
    pub bytes: u64,
}

impl Amount {
    pub fn until(end: Instant) -> Self {
        Amount { end: Some(end), bytes: u64::MAX }
    }

    fn next(self, sent: u64) -> usize {
        let is_over = self.end.is_some_and(|end| Instant::now() >= end);
        if is_over { 0 } else { self.bytes.saturating_sub(sent).min(CHUNK as u64) as usize }
    }
}

fn pattern(stream: usize) -> Vec<u8> {
    // Different bytes for each stream, so that a chunk at the wrong sink shows.
    (0..CHUNK + PERIOD).map(|at| ((at % PERIOD) ^ (stream * 0x55)) as u8).collect()
}

/// Sends, and returns the number of bytes; `None` if the connection broke.
pub fn source(stream: usize, mut to: TcpStream, amount: Amount) -> Option<u64> {
    let pattern = pattern(stream);
    let mut sent = 0_u64;
    loop {
        let bytes = amount.next(sent);
        if bytes == 0 {
            // The end of the stream, which the service detects.
            to.shutdown(Shutdown::Write).ok()?;
            return Some(sent);
        }
        to.write_all(&pattern[(sent % PERIOD as u64) as usize..][..bytes]).ok()?;
        sent += bytes as u64;
    }
}

/// Receives everything, and returns the number of bytes; `None` if the connection broke or bytes
/// differ.
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
    fn changed_byte_is_detected() {
        let (mut there, here) = connected().unwrap();
        let mut bytes = pattern(1)[..1000].to_vec();
        bytes[900] ^= 1;
        there.write_all(&bytes).unwrap();
        drop(there);
        assert_eq!(sink(1, here), None);
    }
}
