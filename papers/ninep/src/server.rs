//! Serves a client over a byte stream.

use crate::frame;
use crate::session::FileSession;
use std::io::{self, BufReader, Read, Write};

/// A small request is read together with its head; a large one directly into its place.
const AHEAD_BYTES: usize = 8 * 1024;

/// Answers a client until it ends the stream.
///
/// # Errors
/// The stream fails or contains no frames. The client's files are closed.
pub fn serve(stream: impl Read + Write, mut session: FileSession) -> io::Result<()> {
    let mut stream = BufReader::with_capacity(AHEAD_BYTES, stream);
    let mut body = Vec::new();
    let mut out = Vec::new();
    while let Some(head) = frame::read(&mut stream, session.agreed_bytes(), &mut body)? {
        session.answer(head, &body, &mut out);
        stream.get_mut().write_all(&out)?;
    }
    Ok(())
}
