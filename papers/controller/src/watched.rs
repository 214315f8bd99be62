//! A connection whose reads end if the other process is stopped.
//!
//! A controller stopped by SIGSTOP keeps its socket open but sends nothing, like one whose client
//! waits. The state of its process distinguishes the two.

use crate::peer::PeerCredentials;
use seatmap_os::task::ThreadStat;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The silence after which the other process is checked.
const SILENCE: Duration = Duration::from_secs(2);

/// Consecutive checks that must find it stopped: a debugger stops it only briefly.
const LOOKS: u32 = 3;

/// The controller is stopped.
#[derive(Debug, thiserror::Error)]
#[error("the controller is stopped (process {pid}); 'kill -CONT {pid}' continues it")]
pub struct ControllerStopped {
    /// The process ID.
    pub pid: i32,
}

#[derive(Debug)]
pub struct ControllerConnection {
    stream: UnixStream,
    /// The listening process; 0 if invisible from here.
    pid: i32,
}

impl ControllerConnection {
    /// Watches the process at the other end.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(SILENCE))?;
        let pid = PeerCredentials::of(&stream)?.pid;
        Ok(ControllerConnection { stream, pid })
    }

    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// The connection, with reads that wait without limit again.
    ///
    /// # Errors
    /// The system's error.
    pub fn into_stream(self) -> io::Result<UnixStream> {
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
