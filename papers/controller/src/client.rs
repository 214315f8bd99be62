//! The client's end of the socket.

use crate::answer::{ControlAnswer, Say};
use crate::door;
use crate::error::ControlError;
use crate::line::{self, LineReader};
use crate::request::{ControlRequest, FORMAT, RequestKind};
use crate::watched::{ControllerConnection, ControllerStopped};
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(100);

/// An event of a controller.
#[derive(Debug)]
pub enum ControllerEvent {
    /// It sent this.
    Said(Say),
    /// It is stopped and sends nothing until it continues; reported once per stop.
    Stopped(ControllerStopped),
}

/// A connection to a controller.
#[derive(Debug)]
pub struct ControlClient {
    lines: LineReader<BufReader<ControllerConnection>>,
    requests: u64,
}

impl ControlClient {
    /// Connects to the controller.
    ///
    /// # Errors
    /// No controller listens there.
    pub fn connect(path: &Path) -> Result<Self, ControlError> {
        let stream = door::knock(path).and_then(ControllerConnection::new).map_err(|source| {
            ControlError::Unreachable { path: path.display().to_string(), source }
        })?;
        Ok(ControlClient { lines: LineReader::new(BufReader::new(stream)), requests: 0 })
    }

    /// Sends a request and returns its final answer. `waiting` gets the number of requests ahead.
    ///
    /// # Errors
    /// The controller rejects the request, exits or is stopped.
    pub fn ask(
        &mut self,
        ask: RequestKind,
        waiting: &mut dyn FnMut(usize),
    ) -> Result<Say, ControlError> {
        self.requests += 1;
        let id = self.requests;
        let request = ControlRequest { format: FORMAT.to_owned(), id, ask };
        // A server that rejected this client has already sent the reason; read it next.
        let sent = line::write(&mut self.lines.stream().get_ref().stream(), &request);
        loop {
            let ControlAnswer { id: of, say } = match (self.hear(), &sent) {
                (Err(ControlError::Gone(_)), Err(error)) => {
                    return Err(ControlError::Gone(io::Error::from(error.kind())));
                }
                (heard, _) => heard?,
            };
            match say {
                // The answer to an unreadable request has the number 0.
                Say::Error { kind, message } if of == id || of == 0 => {
                    return Err(ControlError::Refused { kind, message });
                }
                Say::Waiting { before, .. } if of == id => waiting(before),
                say if of == id && say.is_final() => return Ok(say),
                _ => {}
            }
        }
    }

    /// Receives all answers and events of the controller, until `stop` returns true or `each`
    /// breaks. Waits while the controller is stopped, because a cell ends with its connection.
    ///
    /// # Errors
    /// The controller has exited, or the system cannot start a thread.
    pub fn hear_all(
        mut self,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(ControllerEvent) -> ControlFlow<()>,
    ) -> Result<(), ControlError> {
        let (says, answers) = mpsc::channel();
        // A separate thread reads, so that this one can check `stop`.
        let listen = std::thread::Builder::new();
        listen
            .spawn(move || while says.send(self.hear()).is_ok() {})
            .map_err(ControlError::Listener)?;
        let mut is_stopped = false;
        while !stop() {
            let Ok(answer) = answers.recv_timeout(TICK) else { continue };
            let heard = match answer {
                Ok(answer) => ControllerEvent::Said(answer.say),
                Err(ControlError::Stopped(_)) if is_stopped => continue,
                Err(ControlError::Stopped(stopped)) => ControllerEvent::Stopped(stopped),
                Err(error) => return Err(error),
            };
            is_stopped = matches!(heard, ControllerEvent::Stopped(_));
            if each(heard).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The controller's next answer or event.
    ///
    /// # Errors
    /// The controller has exited or is stopped; if it continues, this can be called again.
    pub fn hear(&mut self) -> Result<ControlAnswer, ControlError> {
        let line = self.lines.read().map_err(ControlError::unheard)?;
        let line = line.ok_or_else(|| {
            ControlError::Gone(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it closed the connection",
            ))
        })?;
        serde_json::from_slice(&line).map_err(|error| {
            ControlError::Gone(io::Error::new(
                io::ErrorKind::InvalidData,
                seatmap_data::document::json_problem(error),
            ))
        })
    }
}
