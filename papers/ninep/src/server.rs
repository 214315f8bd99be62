//! Bytes in, bytes out.

use crate::frame;
use crate::session::FileSession;
use std::io::{self, BufReader, Read, Write};

/// A small request comes whole, with its head; large ones are read where they belong.
const AHEAD_BYTES: usize = 8 * 1024;

/// Answers a client until it ends the stream.
///
/// # Errors
/// The stream breaks, or holds no frames. The files that the client had opened are closed.
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
