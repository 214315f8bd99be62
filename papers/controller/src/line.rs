//! JSON documents, one per line, with a limited length.

use serde::Serialize;
use std::io::{self, BufRead, Read, Write};

/// The longest line in bytes: several times a list of all CPUs that a kernel supports.
pub const LONGEST: u64 = 1 << 20;

/// Reads lines from a stream. If a read fails, the next read continues the partial line.
#[derive(Debug)]
pub struct LineReader<R> {
    stream: R,
    begun: Vec<u8>,
}

impl<R: BufRead> LineReader<R> {
    /// Creates a reader for this stream.
    pub fn new(stream: R) -> Self {
        LineReader { stream, begun: Vec::new() }
    }

    /// The stream.
    pub fn stream(&self) -> &R {
        &self.stream
    }

    /// The next line without its end; `None` at the stream's end.
    ///
    /// # Errors
    /// The stream breaks, or the line is too long.
    pub fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let room = LONGEST - self.begun.len() as u64;
        self.stream.by_ref().take(room).read_until(b'\n', &mut self.begun)?;
        let mut line = std::mem::take(&mut self.begun);
        match line.pop() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(line)),
            // The stream ended within a line, which is ignored: its writer exited early.
            Some(_) if line.len() as u64 + 1 < LONGEST => Ok(None),
            Some(_) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a line has {LONGEST} bytes at most"),
            )),
        }
    }
}

/// Writes a document.
///
/// # Errors
/// The stream breaks.
pub fn write(to: &mut impl Write, document: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(document)?;
    line.push(b'\n');
    to.write_all(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_last_line_is_dropped() {
        let mut stream = LineReader::new(&b"1\n\ncut"[..]);
        let mut next = || stream.read().unwrap();
        assert_eq!(
            [next(), next(), next(), next()],
            [Some(b"1".to_vec()), Some(Vec::new()), None, None]
        );
        let long = vec![b'x'; LONGEST as usize + 5];
        assert!(LineReader::new(&long[..]).read().is_err());
    }

    struct Halting<'a> {
        parts: std::slice::Iter<'a, &'a [u8]>,
        is_up: bool,
    }

    impl Read for Halting<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.is_up = !self.is_up;
            if !self.is_up {
                return Err(io::Error::other("stopped"));
            }
            let part = self.parts.next().copied().unwrap_or_default();
            bytes[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    #[test]
    fn line_continues_after_failed_read() {
        let parts = [&b"on"[..], b"e\ntw", b"o\n"];
        let halting = Halting { parts: parts.iter(), is_up: false };
        let mut stream = LineReader::new(io::BufReader::new(halting));
        assert!(stream.read().is_err());
        assert_eq!(stream.read().unwrap(), Some(b"one".to_vec()));
        assert!(stream.read().is_err());
        assert_eq!(stream.read().unwrap(), Some(b"two".to_vec()));
        assert!(stream.read().is_err());
        assert_eq!(stream.read().unwrap(), None);
    }
}
