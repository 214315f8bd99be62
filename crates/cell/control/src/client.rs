//! The other end of the socket.

use crate::answer::{ControlAnswer, Say};
use crate::door;
use crate::error::ControlError;
use crate::line;
use crate::request::{Ask, ControlRequest, FORMAT};
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// How often a listener looks whether it is to stop.
const TICK: Duration = Duration::from_millis(100);

/// A connection to a controller.
#[derive(Debug)]
pub struct ControlClient {
    stream: BufReader<UnixStream>,
    asked: u64,
}

impl ControlClient {
    /// Connects to the controller.
    ///
    /// # Errors
    /// No controller listens there.
    pub fn connect(path: &Path) -> Result<Self, ControlError> {
        let failed =
            |source| ControlError::Unreachable { path: path.display().to_string(), source };
        Ok(ControlClient { stream: BufReader::new(door::knock(path).map_err(failed)?), asked: 0 })
    }

    /// Asks, and returns what is answered in the end. `waiting` hears how many are before.
    ///
    /// # Errors
    /// The controller refuses, or goes.
    pub fn ask(&mut self, ask: Ask, waiting: &mut dyn FnMut(usize)) -> Result<Say, ControlError> {
        self.asked += 1;
        let id = self.asked;
        let request = ControlRequest { format: FORMAT.to_owned(), id, ask };
        // A server that refused us before it read anything has sent the reason, which is read next.
        let sent = line::write(&mut self.stream.get_ref(), &request);
        loop {
            let ControlAnswer { id: of, say } = match (self.hear(), &sent) {
                (Err(_), Err(error)) => {
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

    /// Hears everything that the controller says, asked for or not, until `stop` says so or `each`
    /// breaks.
    ///
    /// # Errors
    /// The controller has gone, or the system starts no thread.
    pub fn hear_all(
        mut self,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(Say) -> ControlFlow<()>,
    ) -> Result<(), ControlError> {
        let (says, heard) = mpsc::channel();
        // A thread of its own waits at the socket: this one looks whether it is to stop.
        let listen = std::thread::Builder::new();
        listen
            .spawn(move || while says.send(self.hear()).is_ok() {})
            .map_err(ControlError::Listener)?;
        while !stop() {
            let Ok(answer) = heard.recv_timeout(TICK) else { continue };
            if each(answer?.say).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The controller's next answer, whether it was asked for or not.
    ///
    /// # Errors
    /// The controller has gone.
    pub fn hear(&mut self) -> Result<ControlAnswer, ControlError> {
        let line = line::read(&mut self.stream).map_err(ControlError::Gone)?;
        let closed = || io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection");
        let line = line.ok_or_else(|| ControlError::Gone(closed()))?;
        serde_json::from_slice(&line).map_err(|error| {
            ControlError::Gone(io::Error::new(
                io::ErrorKind::InvalidData,
                seatmap_document::json_problem(error),
            ))
        })
    }
}
