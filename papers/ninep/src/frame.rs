//! Frames: length, message number, tag, message (intro(5)).

use std::io::{self, Read};

/// The bytes before a message: the whole frame's length, the message's number and its tag.
pub const HEAD_BYTES: usize = 7;

/// The most bytes around a message's data, with room to spare (`P9_IOHDRSZ`,
/// `include/net/9p/9p.h`).
pub const AROUND_DATA_BYTES: u32 = 24;

/// The longest frame: 128 KiB of data, Linux's default (`DEFAULT_MSIZE`, `net/9p/client.c`), and
/// the bytes around them.
pub const LONGEST_BYTES: u32 = 128 * 1024 + AROUND_DATA_BYTES;

/// The shortest acceptable limit: several names of 255 bytes fit.
pub const SHORTEST_BYTES: u32 = 4096;

/// Starts a frame, which replaces the content of `out`.
pub(crate) fn begin(number: u8, tag: u16, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&[0; 4]);
    out.push(number);
    out.extend_from_slice(&tag.to_le_bytes());
}

pub(crate) fn end(out: &mut [u8]) {
    let length = (out.len() as u32).to_le_bytes();
    if let Some(front) = out.first_chunk_mut() {
        *front = length;
    }
}

/// The number and tag of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// The message type's number.
    pub number: u8,
    /// The request's tag.
    pub tag: u16,
}

/// Reads a frame's head and its body, which replaces the content of `body`; `None` at the end of
/// the stream.
///
/// # Errors
/// The stream fails or ends within a frame; or a frame is shorter than its head or longer than
/// `most_bytes`, so that the next one's start is unknown.
pub fn read(
    from: &mut impl Read,
    most_bytes: u32,
    body: &mut Vec<u8>,
) -> io::Result<Option<FrameHeader>> {
    let mut head = [0; HEAD_BYTES];
    if !begins(from, &mut head)? {
        return Ok(None);
    }
    let [a, b, c, d, number, low, high] = head;
    let length = u32::from_le_bytes([a, b, c, d]);
    if length < HEAD_BYTES as u32 || length > most_bytes {
        let why = format!("a frame has {length} bytes; {HEAD_BYTES} to {most_bytes} are allowed");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    body.resize(length as usize - HEAD_BYTES, 0);
    read_whole(from, body)?;
    Ok(Some(FrameHeader { number, tag: u16::from_le_bytes([low, high]) }))
}

pub(crate) fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the other side closed the connection")
}

fn read_whole(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<()> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => closed(),
        _ => error,
    })
}

/// `false` if the stream ends before it.
fn begins(from: &mut impl Read, head: &mut [u8]) -> io::Result<bool> {
    loop {
        match from.read(head) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                return read_whole(from, head.get_mut(count..).unwrap_or_default()).map(|()| true);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_frame_is_not_returned() {
        let mut stream: &[u8] = &[8, 0, 0, 0, 120, 1, 2, 9];
        let mut body = vec![7; 99];
        assert_eq!(
            read(&mut stream, 100, &mut body).unwrap(),
            Some(FrameHeader { number: 120, tag: 0x201 })
        );
        assert_eq!(
            (body.as_slice(), read(&mut stream, 100, &mut Vec::new()).unwrap()),
            (&[9][..], None)
        );
        for bad in [
            &[8, 0, 0, 0, 120, 1, 2][..],
            &[8, 0, 0][..],
            &[6, 0, 0, 0, 1, 1, 1],
            &[101, 0, 0, 0, 1, 1, 1],
        ] {
            assert!(read(&mut { bad }, 100, &mut body).is_err(), "{bad:?}");
        }
    }
}
