//! The observed command.

use seatmap_os::StopCheck;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time for an end after Ctrl-C, before a signal.
const GRACE: Duration = Duration::from_secs(1);

const PAUSE: Duration = Duration::from_millis(5);

/// A command from its first instruction, with all descendants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubjectCommand {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Whether its stdout goes to stderr, leaving stdout for a document.
    pub leaves_stdout: bool,
}

impl SubjectCommand {
    pub(crate) fn program(&self) -> OsString {
        self.words.first().cloned().unwrap_or_default()
    }

    pub(crate) fn prepared(&self) -> Command {
        let mut command = Command::new(self.program());
        command.args(self.words.iter().skip(1));
        self.direct(&mut command);
        command
    }

    /// Starts the command without observing it.
    ///
    /// # Errors
    /// The system cannot start it.
    pub fn start(&self) -> io::Result<Child> {
        self.prepared().spawn()
    }

    pub(crate) fn prepared_behind(&self, mut recorder: Command) -> Command {
        recorder.arg("--").args(&self.words);
        self.direct(&mut recorder);
        recorder
    }

    fn direct(&self, command: &mut Command) {
        if self.leaves_stdout {
            let stderr = io::stderr().as_fd().try_clone_to_owned();
            command.stdout(stderr.map_or_else(|_| Stdio::null(), Stdio::from));
        }
    }
}

/// Waits for the end. Sends a signal if the command should have stopped with this process, but did
/// not.
///
/// # Errors
/// The system cannot wait for it.
pub fn attend(mut child: Child, mut is_to_end: bool, stop: StopCheck) -> io::Result<ExitStatus> {
    let mut since = Instant::now();
    let mut is_informed = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        // Ctrl-C also reaches the command, so it usually ends by itself.
        if !is_to_end && stop() {
            is_to_end = true;
            since = Instant::now();
        }
        if is_to_end && !is_informed && since.elapsed() >= GRACE {
            ask_to_end(&child);
            is_informed = true;
        }
        std::thread::sleep(PAUSE);
    }
}

fn ask_to_end(command: &Child) {
    let _ = rustix::process::kill_process(
        rustix::process::Pid::from_child(command),
        rustix::process::Signal::TERM,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_launch::Ending;

    #[test]
    fn stop_request_terminates_command() {
        let words = ["sleep", "1000"].map(OsString::from).to_vec();
        let command = SubjectCommand { words, leaves_stdout: true };
        let child = command.prepared().spawn().unwrap();
        let status = attend(child, false, &|| true).unwrap();
        assert_eq!(Ending::of(status), Ending::Killed(libc::SIGTERM));
    }
}
