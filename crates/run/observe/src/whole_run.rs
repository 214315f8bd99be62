//! One run of a command, observed from its first instruction to its end.

use crate::subject::ask_to_end;
use crate::{End, Means, Observation, ObserveError, Session, Subject};
use std::ffi::OsString;
use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// The time that a command has to end by itself after Ctrl-C, before it is asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How often a wait for the command looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Why a run was not seen from its begin to its end.
#[derive(Debug, thiserror::Error)]
pub enum WholeRunError {
    /// It cannot be observed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// The end of its process cannot be waited for.
    #[error(transparent)]
    Wait(#[from] io::Error),
    /// The caller stopped it.
    #[error("interrupted while the program was observed")]
    Stopped,
    /// The program failed.
    #[error("the program failed while it was observed ({0})")]
    Failed(ExitStatus),
}

impl WholeRunError {
    /// Whether the user asked for something that is not there.
    #[must_use]
    pub fn is_input(&self) -> bool {
        matches!(self, WholeRunError::Observe(error) if error.is_input())
    }
}

/// Observes one run of a command by the best method that is allowed. Its output goes to stderr.
///
/// # Errors
/// [`WholeRunError`].
pub fn whole_run(
    command: &[OsString],
    stop: &dyn Fn() -> bool,
) -> Result<Observation, WholeRunError> {
    let subject = Subject::Command { words: command.to_vec(), leaves_stdout: true };
    let mut session = Session::begin(None, Means::Best, &subject)?;
    let watched = session.watch(None, stop);
    let (observation, child) = session.finish();
    let is_stopped = matches!(watched, Ok(End::Asked));
    // The command is waited for in any case, so that none outlives its observation.
    let status = child.map(|child| attend(child, is_stopped, stop)).transpose()?;
    watched?;
    match status {
        _ if is_stopped => Err(WholeRunError::Stopped),
        Some(status) if !status.success() => Err(WholeRunError::Failed(status)),
        _ => Ok(observation),
    }
}

/// Waits for a command's end. One that was to stop with this process, and did not by itself, is
/// asked to.
///
/// # Errors
/// The kernel's error: its end cannot be waited for.
pub fn attend(
    mut child: Child,
    mut is_stopped: bool,
    stop: &dyn Fn() -> bool,
) -> io::Result<ExitStatus> {
    let mut since = Instant::now();
    let mut is_told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if !is_stopped && stop() {
            is_stopped = true;
            since = Instant::now();
        }
        if is_stopped && !is_told && since.elapsed() >= GRACE {
            ask_to_end(&child);
            is_told = true;
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(script: &str) -> Child {
        std::process::Command::new("sh").args(["-c", script]).spawn().unwrap()
    }

    #[test]
    fn a_command_that_ends_by_itself_is_waited_for() {
        let status = attend(started("exit 3"), false, &|| false).unwrap();
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn a_command_that_goes_on_after_a_stop_is_asked_to_end() {
        use std::os::unix::process::ExitStatusExt;
        let status = attend(started("exec sleep 1000"), false, &|| true).unwrap();
        assert_eq!(status.signal(), Some(libc::SIGTERM));
    }
}
