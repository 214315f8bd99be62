//! Helper commands, such as compilers and shell lines that print a number, with a limit on their
//! time.
//!
//! [`Command::output`] waits for ever: for a compiler on a file system that does not answer, and
//! for a process that the command left behind with its output open. Here a command that is late is
//! ended with all that it started in its process group, and what it prints goes to memory, so that
//! nobody waits for its end.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{MemfdFlags, Timespec, memfd_create};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, set_parent_process_death_signal,
};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The most bytes of a command's output that are read.
const MOST_PRINTED: u64 = 64 << 20;

/// The time between two looks whether something asks to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How long a command that is late may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Why a command has no output.
#[derive(Debug, thiserror::Error)]
pub enum LimitedError {
    /// It could not be started.
    #[error("'{command}' cannot be started")]
    Start {
        /// The command.
        command: String,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// It did not end.
    #[error("'{command}' had not ended after {} s and was ended", limit.as_secs_f64())]
    Late {
        /// The command.
        command: String,
        /// How long it might take.
        limit: Duration,
    },
}

/// Runs a command without input to its end, and returns what it printed. `name` is the command in
/// errors.
///
/// The command leads a process group of its own. It gets SIGTERM when this thread ends, so that a
/// Ctrl-C that ends this program ends the command as well.
///
/// # Errors
/// [`LimitedError`].
pub fn output(name: &str, command: &mut Command, limit: Duration) -> Result<Output, LimitedError> {
    output_unless(name, command, limit, &mut || false)?
        .ok_or_else(|| LimitedError::Late { command: name.to_owned(), limit })
}

/// The same, while nothing asks to stop; `None` where something did, and the command was ended with
/// all that it had started.
///
/// # Errors
/// [`LimitedError`].
pub fn output_unless(
    name: &str,
    command: &mut Command,
    limit: Duration,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Output>, LimitedError> {
    let refused = |source| LimitedError::Start { command: name.to_owned(), source };
    let mut out = memory().map_err(refused)?;
    let mut error = memory().map_err(refused)?;
    command.stdin(Stdio::null()).process_group(0);
    command.stdout(out.try_clone().map_err(refused)?).stderr(error.try_clone().map_err(refused)?);
    // SAFETY: between fork and exec the closure makes one system call.
    unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?)) };
    let mut child = command.spawn().map_err(refused)?;
    let pid = Pid::from_child(&child);
    let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(|errno| {
        end(&mut child, pid, None);
        refused(errno.into())
    })?;
    let until = Instant::now() + limit;
    while !ends_within(&handle, LOOK.min(until.saturating_duration_since(Instant::now()))) {
        let is_late = Instant::now() >= until;
        if is_late || stop() {
            end(&mut child, pid, Some(&handle));
            let late = LimitedError::Late { command: name.to_owned(), limit };
            return if is_late { Err(late) } else { Ok(None) };
        }
    }
    let status = child.wait().map_err(refused)?;
    let stdout = read(&mut out).map_err(refused)?;
    let stderr = read(&mut error).map_err(refused)?;
    Ok(Some(Output { status, stdout, stderr }))
}

/// A file in memory. A pipe would be full after 64 KiB, and the command would wait for a reader
/// that waits for its end.
fn memory() -> io::Result<File> {
    Ok(File::from(memfd_create("seatmap-output", MemfdFlags::CLOEXEC)?))
}

fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MOST_PRINTED).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn ends_within(process: &OwnedFd, limit: Duration) -> bool {
    let until = Instant::now() + limit;
    loop {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
        let mut watched = [PollFd::new(process, PollFlags::IN)];
        match poll(&mut watched, left.as_ref()) {
            Ok(1..) => return true,
            // A signal ended the wait before its time.
            _ if Instant::now() < until => {}
            _ => return false,
        }
    }
}

/// Ends the process group: politely, then by force.
fn end(child: &mut Child, pid: Pid, handle: Option<&OwnedFd>) {
    let _ = kill_process_group(pid, Signal::TERM);
    handle.map(|handle| ends_within(handle, GRACE));
    let _ = kill_process_group(pid, Signal::KILL);
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(line: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]);
        shell
    }

    #[test]
    fn what_a_command_prints_and_how_it_ended_come_back() {
        let output =
            output("sh", &mut shell("cat; echo out; echo error >&2; exit 3"), LONG).unwrap();
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"error\n"[..]));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_process_that_is_left_behind_with_the_output_is_not_waited_for() {
        let output = output("sh", &mut shell("sleep 1000 & echo $!"), LONG).unwrap();
        let left: i32 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
        // Had it been waited for, it would be gone.
        rustix::process::kill_process(Pid::from_raw(left).unwrap(), Signal::KILL).unwrap();
    }

    #[test]
    fn a_late_command_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("pid");
        // The shell and its child take no notice of TERM.
        let line = format!(
            "trap '' TERM; sleep 1000 & echo $! > {}; while :; do sleep 1000; done",
            note.display()
        );
        let started = std::thread::spawn(move || {
            output("sh -c ...", &mut shell(&line), Duration::from_millis(500))
        });
        let error = started.join().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "'sh -c ...' had not ended after 0.5 s and was ended");
        let left: i32 = std::fs::read_to_string(note).unwrap().trim().parse().unwrap();
        // The kernel ends a process some time after its signal.
        let begun = Instant::now();
        loop {
            let state = std::fs::read_to_string(format!("/proc/{left}/stat")).unwrap_or_default();
            if state.is_empty() || state.contains(") Z ") {
                break;
            }
            assert!(begun.elapsed() < LONG, "{state}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_command_that_is_needed_no_more_is_ended() {
        let mut looks = 0;
        let mut stop = || {
            looks += 1;
            looks == 3
        };
        let ended = output_unless("sh", &mut shell("sleep 1000"), LONG, &mut stop);
        assert!(ended.unwrap().is_none());
    }

    #[test]
    fn a_command_that_is_absent_is_named() {
        let error =
            output("no-such-compiler -x", &mut Command::new("no-such-compiler"), LONG).unwrap_err();
        assert_eq!(error.to_string(), "'no-such-compiler -x' cannot be started");
    }
}
