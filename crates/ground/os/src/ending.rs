//! How a process ended, in words, and how to end the same way.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// timeout(1)'s exit code for a timeout.
const TIME_WAS_OVER: i32 = 124;

/// A shell adds this to the number of a fatal signal (POSIX, 2.8.2).
const SHELL_BASE: i32 = 128;

/// These end a program without its fault.
const CUTTING: [i32; 6] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGKILL, libc::SIGALRM, libc::SIGTERM, libc::SIGXCPU];

/// A process's exit code or fatal signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

impl Ending {
    /// The end of a reaped process.
    pub fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Killed(signal.unwrap_or(libc::SIGKILL)),
        }
    }

    /// Whether the exit code is 0.
    pub fn is_success(self) -> bool {
        self == Ending::Exited(0)
    }

    /// Whether timeout(1), a user or a kernel limit ended the process early; observations remain
    /// valid.
    pub fn is_cut(self) -> bool {
        match self {
            Ending::Exited(TIME_WAS_OVER) => true,
            Ending::Exited(code) => CUTTING.contains(&(code - SHELL_BASE)),
            Ending::Killed(signal) => CUTTING.contains(&signal),
        }
    }

    /// Ends this process with the same exit code or signal, so its parent sees no difference. No
    /// second core dump.
    pub fn leave_alike(self) -> ! {
        let code = match self {
            Ending::Exited(code) => code,
            Ending::Killed(signal) => {
                die_of(signal);
                // A shell's code, if the signal is blocked or could not be sent.
                SHELL_BASE + signal
            }
        };
        std::process::exit(code)
    }
}

/// The rest of a sentence: `ended with exit code 3`. Explains conventional codes.
impl fmt::Display for Ending {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = match self {
            Ending::Exited(code) => *code,
            Ending::Killed(signal) => return write!(out, "was ended by {}", named(*signal)),
        };
        write!(out, "ended with exit code {code}")?;
        match code {
            TIME_WAS_OVER => write!(out, ", timeout(1)'s code for a timeout"),
            126 => write!(out, ", a shell's code for a program that it cannot execute"),
            127 => write!(out, ", a shell's code for a program that it cannot find"),
            _ if is_signal(code - SHELL_BASE) => {
                let signal = named(code - SHELL_BASE);
                write!(out, ", a shell's code for a command ended by {signal}")
            }
            _ => Ok(()),
        }
    }
}

fn is_signal(number: i32) -> bool {
    (libc::SIGHUP..=libc::SIGSYS).contains(&number)
}

fn named(signal: i32) -> String {
    // The standard library writes "signal: 9 (SIGKILL)".
    ExitStatus::from_raw(signal).to_string().replacen(':', "", 1)
}

fn die_of(signal: i32) {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is valid; the rest affects only this process, which is about to end.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn of(line: &str) -> Ending {
        Ending::of(Command::new("sh").args(["-c", line]).status().unwrap())
    }

    #[test]
    fn exit_codes_and_signals_are_explained() {
        let lines = [
            ("exit 3", "ended with exit code 3"),
            ("exit 124", "ended with exit code 124, timeout(1)'s code for a timeout"),
            (
                "/nonexistent 2> /dev/null",
                "ended with exit code 127, a shell's code for a program that it cannot find",
            ),
            (
                "/ 2> /dev/null",
                "ended with exit code 126, a shell's code for a program that it cannot execute",
            ),
            (
                "sh -c 'kill -TERM $$'; exit $?",
                "ended with exit code 143, a shell's code for a command ended by signal 15 \
                 (SIGTERM)",
            ),
            ("kill -KILL $$", "was ended by signal 9 (SIGKILL)"),
            ("kill -SEGV $$", "was ended by signal 11 (SIGSEGV)"),
            ("exit 200", "ended with exit code 200"),
        ];
        for (line, words) in lines {
            assert_eq!(of(line).to_string(), words, "{line}");
        }
        assert_eq!(Ending::Killed(40).to_string(), "was ended by signal 40");
    }

    #[test]
    fn cut_programs_are_distinguished_from_failed_ones() {
        for line in ["exit 124", "kill -TERM $$", "kill -KILL $$", "exit 137", "exit 130"] {
            assert!(of(line).is_cut(), "{line}");
        }
        for line in ["exit 0", "exit 1", "kill -SEGV $$", "kill -ABRT $$", "exit 139", "exit 127"] {
            assert!(!of(line).is_cut(), "{line}");
        }
    }
}
