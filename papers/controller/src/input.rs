//! The standard input of a program in a cell, passed on from the terminal or file that it was
//! started with. It is read when the program asks, as much as there is, and not ahead. The rest
//! stays there for the next reader.
//!
//! The terminal stays with the user who started the program: lines are edited, echoed and ended
//! there, and while the program is in its background nothing is taken from it.

use crate::peer::PeerCredentials;
use seatmap_os::ready::{self, Awaited};
use seatmap_os::task::ThreadStat;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The interval at which a process in the background of a terminal is checked while there is
/// something to read.
const PAUSE: Duration = Duration::from_millis(100);

/// A program's standard input.
#[derive(Debug)]
pub(crate) struct StandardInput {
    file: File,
    /// The program's connection; the program may go while it waits for something to read.
    client: UnixStream,
    /// The process that started it, where it reads from a terminal.
    starter: Option<i32>,
}

impl StandardInput {
    /// The input of the client at the other end of this stream.
    pub fn new(file: OwnedFd, client: &UnixStream, peer: &PeerCredentials) -> io::Result<Self> {
        let starter = file.is_terminal().then_some(peer.pid);
        Ok(StandardInput { file: file.into(), client: client.try_clone()?, starter })
    }

    /// Waits until there is something to read, or its end.
    ///
    /// # Errors
    /// The client has gone: what comes now is not for it.
    fn wait(&self) -> io::Result<()> {
        loop {
            let both = [Awaited::end(&self.client), Awaited::data(&self.file)];
            let [client, file] = ready::wait(both, None)?;
            if client.has_ended {
                return Err(ErrorKind::BrokenPipe.into());
            }
            // Otherwise a signal came.
            if file.is_any() {
                return Ok(());
            }
        }
    }
}

impl Read for StandardInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !into.is_empty() {
            match self.wait() {
                Ok(())
                    if self.starter.is_some_and(|pid| {
                        ThreadStat::of(pid).is_some_and(|task| task.is_in_background())
                    }) =>
                {
                    std::thread::sleep(PAUSE)
                }
                Ok(()) => match self.file.read(into) {
                    Err(error)
                        if matches!(
                            error.kind(),
                            ErrorKind::WouldBlock | ErrorKind::Interrupted
                        ) => {}
                    other => return other,
                },
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::Shutdown;

    /// An input, what is typed there, and the other end of the client's stream.
    fn input() -> (StandardInput, io::PipeWriter, UnixStream) {
        let (reads, writes) = io::pipe().unwrap();
        let (client, other) = UnixStream::pair().unwrap();
        let peer = PeerCredentials::of(&client).unwrap();
        (StandardInput::new(reads.into(), &client, &peer).unwrap(), writes, other)
    }

    #[test]
    fn what_is_there_is_read_and_then_its_end() {
        let (mut input, mut writes, _other) = input();
        writes.write_all(b"hello").unwrap();
        let mut bytes = [0; 3];
        assert_eq!(input.read(&mut []).unwrap(), 0);
        assert_eq!((input.read(&mut bytes).unwrap(), &bytes), (3, b"hel"));
        assert_eq!((input.read(&mut bytes).unwrap(), &bytes[..2]), (2, &b"lo"[..]));
        drop(writes);
        assert_eq!(input.read(&mut bytes).unwrap(), 0);
        assert_eq!(input.read(&mut bytes).unwrap(), 0, "it stays at its end");
    }

    #[test]
    fn nothing_is_taken_for_who_has_gone() {
        let (mut input, mut writes, other) = input();
        // A child that another test starts in this moment still has a copy of a closed end.
        other.shutdown(Shutdown::Both).unwrap();
        writes.write_all(b"for the next").unwrap();
        assert_eq!(input.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::BrokenPipe);
        let mut next = [0; 12];
        input.file.read_exact(&mut next).unwrap();
        assert_eq!(&next, b"for the next");
    }
}
