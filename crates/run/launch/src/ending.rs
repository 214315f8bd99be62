//! How a process ended, and how to end alike.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

impl Ending {
    /// The end of a process that was waited for.
    #[must_use]
    pub fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Killed(signal.unwrap_or(libc::SIGKILL)),
        }
    }

    /// Ends this process as that one ended, so that its parent sees no difference: by the same
    /// signal, where a signal ended it, and without a second core dump.
    pub fn leave_alike(self) -> ! {
        let code = match self {
            Ending::Exited(code) => code,
            Ending::Killed(signal) => {
                die_of(signal);
                // A shell's code for that ending, where the signal is blocked or this process
                // cannot send it to itself.
                128 + signal
            }
        };
        std::process::exit(code)
    }
}

fn die_of(signal: i32) {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is valid; what remains acts on this process alone, and it is about to end.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
