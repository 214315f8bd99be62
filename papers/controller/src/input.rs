//! The standard input of a program in a cell, passed on from the terminal or file of its start. It
//! reads only on request and only available data; the rest remains for the next reader.
//!
//! The terminal stays the user's: lines are edited, echoed and ended there. While the program is in
//! the terminal's background, nothing is read.

use crate::peer::PeerCredentials;
use seatmap_os::ready::{self, Awaited};
use seatmap_os::task::ThreadStat;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Period of checks whether a background process can read its terminal again.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct StandardInput {
    file: File,
    client: UnixStream,
    /// The process that started the program, if the input is a terminal.
    starter: Option<i32>,
}

impl StandardInput {
    pub fn new(file: OwnedFd, client: &UnixStream, peer: &PeerCredentials) -> io::Result<Self> {
        let starter = file.is_terminal().then_some(peer.pid);
        Ok(StandardInput { file: file.into(), client: client.try_clone()?, starter })
    }

    /// Waits for data or the input's end.
    ///
    /// # Errors
    /// The client has exited, so later input is not for it.
    fn wait(&self) -> io::Result<()> {
        loop {
            let both = [Awaited::end(&self.client), Awaited::data(&self.file)];
            let [client, file] = ready::wait(both, None)?;
            if client.has_ended {
                return Err(ErrorKind::BrokenPipe.into());
            }
            // Otherwise, a signal interrupted the wait.
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
                        ThreadStat::of(pid).is_some_and(|task| is_in_background(&task))
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

/// Whether another process group has the terminal's foreground.
fn is_in_background(task: &ThreadStat) -> bool {
    task.terminal_group > 0 && task.group != task.terminal_group
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::Shutdown;

    fn input() -> (StandardInput, io::PipeWriter, UnixStream) {
        let (reads, writes) = io::pipe().unwrap();
        let (client, other) = UnixStream::pair().unwrap();
        let peer = PeerCredentials::of(&client).unwrap();
        (StandardInput::new(reads.into(), &client, &peer).unwrap(), writes, other)
    }

    #[test]
    fn background_group_differs_from_the_terminals() {
        let task = ThreadStat::of(seatmap_os::task::own_tid()).unwrap();
        let is_behind = |group, terminal_group| {
            is_in_background(&ThreadStat { group, terminal_group, ..task.clone() })
        };
        assert_eq!([is_behind(3, 9), is_behind(9, 9), is_behind(3, -1)], [true, false, false]);
    }

    #[test]
    fn available_input_is_read_until_its_end() {
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
    fn disconnected_client_consumes_no_input() {
        let (mut input, mut writes, other) = input();
        // A child that another test is just starting still has a copy of a closed end.
        other.shutdown(Shutdown::Both).unwrap();
        writes.write_all(b"for the next").unwrap();
        assert_eq!(input.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::BrokenPipe);
        let mut next = [0; 12];
        input.file.read_exact(&mut next).unwrap();
        assert_eq!(&next, b"for the next");
    }
}
