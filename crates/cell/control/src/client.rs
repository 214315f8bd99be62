//! The other end of the socket.

use crate::answer::{ControlAnswer, Say};
use crate::door;
use crate::error::ControlError;
use crate::line;
use crate::request::{Ask, ControlRequest, FORMAT};
use crate::watched::Watched;
use std::io::{self, BufReader};
use std::path::Path;

/// A connection to a controller.
#[derive(Debug)]
pub struct ControlClient {
    stream: BufReader<Watched>,
    requests: u64,
}

impl ControlClient {
    /// Connects to the controller.
    ///
    /// # Errors
    /// No controller listens there.
    pub fn connect(path: &Path) -> Result<Self, ControlError> {
        let stream = door::knock(path).and_then(Watched::new).map_err(|source| {
            ControlError::Unreachable { path: path.display().to_string(), source }
        })?;
        Ok(ControlClient { stream: BufReader::new(stream), requests: 0 })
    }

    /// Asks, and returns what is answered in the end. `waiting` hears how many are before.
    ///
    /// # Errors
    /// The controller refuses, goes, or is stopped.
    pub fn ask(&mut self, ask: Ask, waiting: &mut dyn FnMut(usize)) -> Result<Say, ControlError> {
        self.requests += 1;
        let id = self.requests;
        let request = ControlRequest { format: FORMAT.to_owned(), id, ask };
        // A server that refused us before it read anything has sent the reason, which is read next.
        let sent = line::write(&mut self.stream.get_ref().stream(), &request);
        loop {
            let ControlAnswer { id: of, say } = match (self.hear(), &sent) {
                (Err(ControlError::Gone(_)), Err(error)) => {
                    return Err(ControlError::Gone(io::Error::from(error.kind())));
                }
                (heard, _) => heard?,
            };
            match say {
                Say::Error { kind, message } if of == id || of == 0 => {
                    return Err(ControlError::Refused { kind, message });
                }
                Say::Waiting { before, .. } if of == id => waiting(before),
                say if of == id && say.is_final() => return Ok(say),
                _ => {}
            }
        }
    }

    /// The controller's next answer, whether it was asked for or not.
    ///
    /// # Errors
    /// The controller has gone, or is stopped; one that goes on later can be heard again.
    pub fn hear(&mut self) -> Result<ControlAnswer, ControlError> {
        let line = line::read(&mut self.stream).map_err(ControlError::unheard)?;
        let line = line.ok_or_else(|| {
            ControlError::Gone(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it closed the connection",
            ))
        })?;
        serde_json::from_slice(&line).map_err(|error| {
            ControlError::Gone(io::Error::new(
                io::ErrorKind::InvalidData,
                seatmap_document::json_problem(error),
            ))
        })
    }
}
