//! A connection whose reads end where the other process is stopped.
//!
//! A controller that was stopped (SIGSTOP) keeps its socket open and says nothing, as one that
//! makes other users wait does. Its process tells the two apart.

use crate::peer::PeerCredentials;
use seatmap_os::task::ThreadStat;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long nothing must have come before the other process is looked at.
const SILENCE: Duration = Duration::from_secs(2);

/// In how many looks in a row it must have been stopped: a debugger stops it for a moment only.
const LOOKS: u32 = 3;

/// The controller is stopped.
#[derive(Debug, thiserror::Error)]
#[error("the controller is stopped (process {pid}); 'kill -CONT {pid}' lets it go on")]
pub struct ControllerStopped {
    /// The process.
    pub pid: i32,
}

/// A connection to a controller.
#[derive(Debug)]
pub(crate) struct ControllerConnection {
    stream: UnixStream,
    /// The process that listens; 0 where this one cannot see it.
    pid: i32,
}

impl ControllerConnection {
    /// Watches the process at the other end.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(SILENCE))?;
        let pid = PeerCredentials::of(&stream)?.pid;
        Ok(ControllerConnection { stream, pid })
    }

    /// The connection.
    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// The connection, whose reads wait for ever again.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn into_stream(self) -> io::Result<UnixStream> {
        self.stream.set_read_timeout(None)?;
        Ok(self.stream)
    }

    fn is_stopped(&self) -> bool {
        ThreadStat::of(self.pid).is_some_and(|task| ['T', 't'].contains(&task.state))
    }
}

impl Read for ControllerConnection {
    /// # Errors
    /// [`ControllerStopped`] in an error of the kind `Other`, and those of the connection.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut stopped = 0;
        loop {
            match (&self.stream).read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            stopped = if self.is_stopped() { stopped + 1 } else { 0 };
            if stopped == LOOKS {
                return Err(io::Error::other(ControllerStopped { pid: self.pid }));
            }
        }
    }
}
