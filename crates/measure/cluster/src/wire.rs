//! Messages between ranks: a length of four bytes, JSON of this length, and a tag.
//!
//! The handshake ends with one key per direction. Every message carries a tag, the HMAC-SHA256
//! (RFC 2104) of its number in this direction and of its bytes. A changed, repeated, omitted,
//! reordered, reflected or foreign message has a wrong tag and ends the connection.
//!
//! Why HMAC and not Noise (the crate `snow`) or TLS: the messages are not secret and the ranks
//! already share a key. HMAC uses the handshake's hash function; Noise would add a cipher and an
//! elliptic curve to the binary.
//!
//! The payload of a measurement has no tag, because its content is ignored. The orders around it
//! have one ([`RankConnection::send_frame`]).

use hmac_sha256::HMAC;
use seatmap_data::document::visible;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Ranks with another version are refused with an error that names it.
pub const PROTOCOL: &str = concat!("seatmap-cluster-wire/4 of seatmap ", env!("CARGO_PKG_VERSION"));

/// A rank is lost after this: a dead computer does not close its connections.
pub const GONE: Duration = Duration::from_secs(60);

/// In bytes; a thousand CPUs' profile is shorter.
const LONGEST: u32 = 64 << 20;

const TAG_BYTES: usize = 32;

const FORGED: &str = "a message is not from the other rank, or was changed on its way: something \
                      interferes with this connection";

const CLOSED: &str = "the other side closed the connection";

const SILENT: &str = "the other side was silent for too long";

pub const BROKEN: &str = "its connection broke: the process or the node is down";

#[derive(Clone)]
pub struct Seal {
    key: [u8; TAG_BYTES],
    count: u64,
}

impl Seal {
    pub fn new(key: [u8; TAG_BYTES]) -> Self {
        Seal { key, count: 0 }
    }

    /// Frames and messages cannot be confused: both ends know which comes next.
    fn next_tag(&mut self, bytes: &[&[u8]]) -> [u8; TAG_BYTES] {
        let mut mac = HMAC::new(self.key);
        mac.update(self.count.to_be_bytes());
        self.count += 1;
        for part in bytes {
            mac.update(part);
        }
        mac.finalize()
    }

    fn check_next(&mut self, bytes: &[&[u8]], tag: &[u8; TAG_BYTES]) -> io::Result<()> {
        if is_same(&self.next_tag(bytes), tag) {
            return Ok(());
        }
        Err(io::Error::new(ErrorKind::InvalidData, FORGED))
    }
}

/// In constant time.
pub fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differs = a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differs) == 0
}

#[derive(Clone)]
pub struct Seals {
    pub sending: Seal,
    pub receiving: Seal,
}

pub struct RankConnection {
    pub stream: TcpStream,
    seals: Seals,
    /// For a whole message.
    limit: Option<Duration>,
}

impl RankConnection {
    pub fn new(stream: TcpStream, seals: Seals) -> Self {
        RankConnection { stream, seals, limit: None }
    }

    pub fn set_read_timeout(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.limit = limit;
        self.stream.set_read_timeout(limit)
    }

    pub fn for_reading(&self) -> io::Result<Self> {
        Ok(RankConnection {
            stream: self.stream.try_clone()?,
            // One direction each, so no number is used twice.
            seals: self.seals.clone(),
            limit: self.limit,
        })
    }

    pub fn send_frame(&mut self, bytes: &[u8]) -> io::Result<()> {
        let frame = self.sealed_frame(bytes);
        self.write_payload(&frame)
    }

    /// Made before a clock is read; must be sent next.
    pub fn sealed_frame(&mut self, bytes: &[u8]) -> Vec<u8> {
        let tag = self.seals.sending.next_tag(&[bytes]);
        [bytes, &tag].concat()
    }

    /// `None` if the other side closed the connection.
    pub fn receive_frame<const BYTES: usize>(&mut self) -> io::Result<Option<[u8; BYTES]>> {
        let mut bytes = [0; BYTES];
        // Only a separate first read distinguishes a closed connection from a broken frame.
        let first = loop {
            match self.stream.read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.map_err(in_words)?,
            }
        };
        if first == 0 {
            return Ok(None);
        }
        read_whole(&mut &self.stream, &mut bytes[first..])?;
        let mut tag = [0; TAG_BYTES];
        read_whole(&mut &self.stream, &mut tag)?;
        self.seals.receiving.check_next(&[&bytes], &tag)?;
        Ok(Some(bytes))
    }

    pub fn write_payload(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).map_err(in_words)
    }

    pub fn read_payload(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        read_whole(&mut &self.stream, bytes)
    }
}

pub fn send(channel: &mut RankConnection, message: &impl Serialize) -> io::Result<()> {
    let text = encoded(message)?;
    let tag = channel.seals.sending.next_tag(&[&text]);
    // One write: two would be two packets.
    channel.stream.write_all(&[&text[..], &tag].concat()).map_err(in_words)
}

pub fn receive<T: DeserializeOwned>(channel: &mut RankConnection) -> io::Result<T> {
    let RankConnection { stream, seals, limit } = channel;
    let Some(limit) = *limit else { return receive_sealed(&mut &*stream, &mut seals.receiving) };
    let message = receive_sealed(&mut TimedStream::new(stream, limit), &mut seals.receiving);
    // The message's deadline changed the socket's timeout.
    stream.set_read_timeout(Some(limit))?;
    message
}

fn receive_sealed<T: DeserializeOwned>(stream: &mut impl Read, seal: &mut Seal) -> io::Result<T> {
    let (length, text) = read_text(stream, LONGEST)?;
    let mut tag = [0; TAG_BYTES];
    read_whole(stream, &mut tag)?;
    seal.check_next(&[&length, &text], &tag)?;
    parsed(&text)
}

pub fn send_plain(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    stream.write_all(&encoded(message)?).map_err(in_words)?;
    stream.flush()
}

pub fn receive_plain<T: DeserializeOwned>(stream: &mut impl Read, most: u32) -> io::Result<T> {
    parsed(&read_text(stream, most)?.1)
}

pub fn parse_plain<T: DeserializeOwned>(bytes: &[u8], most: u32) -> io::Result<Option<T>> {
    let Some((length, text)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let length = checked_length(*length, most)?;
    text.get(..length).map(parsed).transpose()
}

fn encoded(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(message).map_err(io::Error::other)?;
    let length = u32::try_from(text.len()).ok().filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    Ok([&length.to_be_bytes()[..], &text].concat())
}

fn parsed<T: DeserializeOwned>(text: &[u8]) -> io::Result<T> {
    serde_json::from_slice(text).map_err(|error| {
        let problem = seatmap_data::document::json_problem(error);
        io::Error::new(
            ErrorKind::InvalidData,
            format!("the other side is not a Seatmap rank: {problem}"),
        )
    })
}

fn checked_length(length: [u8; 4], most: u32) -> io::Result<usize> {
    let length = u32::from_be_bytes(length);
    if length > most {
        let words = "the other side is not a Seatmap rank: its message is too long";
        return Err(io::Error::new(ErrorKind::InvalidData, words));
    }
    Ok(length as usize)
}

fn read_text(stream: &mut impl Read, most: u32) -> io::Result<([u8; 4], Vec<u8>)> {
    let mut length = [0; 4];
    read_whole(stream, &mut length)?;
    let count = checked_length(length, most)?;
    // The length is only a claim, so memory grows as bytes arrive.
    let mut text = Vec::new();
    stream.take(count as u64).read_to_end(&mut text).map_err(in_words)?;
    if text.len() < count {
        return Err(io::Error::new(ErrorKind::UnexpectedEof, CLOSED));
    }
    Ok((length, text))
}

fn read_whole(stream: &mut impl Read, bytes: &mut [u8]) -> io::Result<()> {
    stream.read_exact(bytes).map_err(in_words)
}

fn in_words(error: io::Error) -> io::Error {
    if has_ended(&error) {
        return io::Error::new(error.kind(), CLOSED);
    }
    if is_late(&error) { io::Error::new(ErrorKind::TimedOut, SILENT) } else { error }
}

pub fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

pub fn sentence(error: &io::Error) -> String {
    if has_ended(error) {
        return BROKEN.to_owned();
    }
    visible(&error.to_string())
}

pub fn has_ended(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
    )
}

/// One deadline: a peer that sends a byte now and then gets no more time than a silent one.
pub struct TimedStream<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl<'a> TimedStream<'a> {
    pub fn new(stream: &'a TcpStream, limit: Duration) -> Self {
        let now = Instant::now();
        let until = now.checked_add(limit).unwrap_or(now + Duration::from_secs(3600));
        TimedStream { stream, until }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for TimedStream<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        (&mut &*self.stream).read(bytes)
    }
}

impl Write for TimedStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        (&mut &*self.stream).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
