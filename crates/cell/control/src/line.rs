//! JSON documents, a line each, of a length that a stranger cannot choose.

use serde::Serialize;
use std::io::{self, BufRead, Read, Write};

/// The longest line, in bytes: a list of all the CPUs that a kernel can have fits several times
/// over.
pub const LONGEST: u64 = 1 << 20;

/// The next line, without its end; `None` at the end of the stream.
///
/// # Errors
/// The stream breaks, or the line is too long.
pub fn read(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.take(LONGEST).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        // The stream ended within a line, which counts for nothing.
        Some(_) if line.len() as u64 + 1 < LONGEST => Ok(None),
        Some(_) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a line has {LONGEST} bytes at most"),
        )),
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
    fn lines_are_whole_or_not_there() {
        let mut stream: &[u8] = b"1\n\ncut";
        let mut next = || read(&mut stream).unwrap();
        assert_eq!(
            [next(), next(), next(), next()],
            [Some(b"1".to_vec()), Some(Vec::new()), None, None]
        );
        let mut long: &[u8] = &vec![b'x'; LONGEST as usize + 5];
        assert!(read(&mut long).is_err());
    }
}
