//! Messages between ranks: a length of four bytes, and as many bytes of JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::time::Duration;

/// The version of the messages. Ranks of another one are refused by name.
pub(crate) const PROTOCOL: &str = concat!("seatmap-cluster-wire/1 of seatmap ", env!("CARGO_PKG_VERSION"));

/// A rank whose computer answers nothing for so long has gone: its end of a connection may never be heard of.
pub(crate) const GONE: Duration = Duration::from_secs(60);

/// The longest message, in bytes: a profile of a node with a thousand CPUs has less.
const LONGEST: u32 = 64 << 20;

/// Sends a message.
pub(crate) fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(message).map_err(io::Error::other)?;
    let length = u32::try_from(text.len()).ok().filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    // One write: two would be two packets.
    stream.write_all(&[&length.to_be_bytes()[..], &text].concat())?;
    stream.flush()
}

/// Takes a message of at most so many bytes.
pub(crate) fn receive_at_most<T: DeserializeOwned>(stream: &mut impl Read, most: u32) -> io::Result<T> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > most {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "this is not a rank of Seatmap: its message is too long",
        ));
    }
    // The length is only what the other side says: what has not come takes no memory.
    let mut text = Vec::new();
    stream.take(u64::from(length)).read_to_end(&mut text)?;
    if text.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Takes a message of a peer that has proved who it is.
pub(crate) fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    receive_at_most(stream, LONGEST)
}

/// The words for a connection that broke; of one that was silent for too long, the caller knows for how long.
pub(crate) fn told(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "its connection broke: the process or the node has ended".to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_come_as_they_were_sent_and_one_by_one() {
        let mut line = Vec::new();
        send(&mut line, &"one").unwrap();
        send(&mut line, &[2, 3]).unwrap();
        let mut line = &line[..];
        assert_eq!(receive::<String>(&mut line).unwrap(), "one");
        assert_eq!(receive::<[u8; 2]>(&mut line).unwrap(), [2, 3]);
        assert_eq!(receive::<String>(&mut line).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    proptest! {
        /// Whatever comes, the answer is a message or an error, and no more is kept than came.
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = receive_at_most::<serde_json::Value>(&mut &bytes[..], 100);
        }
    }

    #[test]
    fn a_length_that_nobody_sends_is_refused_at_once() {
        let said = receive_at_most::<String>(&mut &b"GET / HTTP/1.1\r\n\r\n"[..], 1 << 16).unwrap_err();
        assert!(said.to_string().contains("not a rank of Seatmap"), "{said}");
    }
}
