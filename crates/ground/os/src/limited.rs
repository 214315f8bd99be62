//! Helper commands with a time limit, such as compilers and shell lines.
//!
//! [`Command::output`] may wait forever for a hanging file system, or for a leftover process with
//! the output open. Here a late command is killed with its process group, and its output goes to
//! memory.

use crate::ready::{Awaited, wait};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, set_parent_process_death_signal,
};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const MOST_PRINTED: u64 = 64 << 20;

/// Interval between checks for a stop.
const LOOK: Duration = Duration::from_millis(50);

/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Why a command has no output.
#[derive(Debug, thiserror::Error)]
pub enum LimitedError {
    /// It could not start.
    #[error("cannot start '{command}'")]
    Start {
        /// Command.
        command: String,
        /// Reason.
        #[source]
        source: io::Error,
    },
    /// It exceeded its time.
    #[error("'{command}' was still running after {} s and was stopped", limit.as_secs_f64())]
    Late {
        /// Command.
        command: String,
        /// Its time limit.
        limit: Duration,
    },
}

/// Runs a command without input and returns its output. Errors call it `name`.
///
/// The command leads its own process group. It gets SIGTERM when this thread ends, so Ctrl-C ends
/// it too.
///
/// # Errors
/// [`LimitedError`].
pub fn output(name: &str, command: &mut Command, limit: Duration) -> Result<Output, LimitedError> {
    output_unless(name, command, limit, &mut || false)?
        .ok_or_else(|| LimitedError::Late { command: name.to_owned(), limit })
}

/// Like [`output`], but kills the command and its process group once `stop` returns true; then
/// `None`.
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

/// A file in memory. A full pipe (64 KiB) would block the command.
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
        let left = until.saturating_duration_since(Instant::now());
        match wait([Awaited::data(process)], Some(left)) {
            Ok([process]) if process.is_any() => return true,
            // A signal.
            _ if Instant::now() < until => {}
            _ => return false,
        }
    }
}

/// Ends the process group: SIGTERM, then SIGKILL.
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
    fn output_and_exit_status_are_returned() {
        let output =
            output("sh", &mut shell("cat; echo out; echo error >&2; exit 3"), LONG).unwrap();
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"error\n"[..]));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn background_process_with_the_output_is_not_awaited() {
        let output = output("sh", &mut shell("sleep 1000 & echo $!"), LONG).unwrap();
        let left: i32 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
        // Fails if the call waited for this process.
        rustix::process::kill_process(Pid::from_raw(left).unwrap(), Signal::KILL).unwrap();
    }

    #[test]
    fn late_command_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("pid");
        // The shell and its child ignore SIGTERM.
        let line = format!(
            "trap '' TERM; sleep 1000 & echo $! > {}; while :; do sleep 1000; done",
            note.display()
        );
        let started = std::thread::spawn(move || {
            output("sh -c ...", &mut shell(&line), Duration::from_millis(500))
        });
        let error = started.join().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "'sh -c ...' was still running after 0.5 s and was stopped");
        let left: i32 = std::fs::read_to_string(note).unwrap().trim().parse().unwrap();
        // A process ends some time after its signal.
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
    fn stopped_command_is_killed() {
        let mut looks = 0;
        let mut stop = || {
            looks += 1;
            looks == 3
        };
        let ended = output_unless("sh", &mut shell("sleep 1000"), LONG, &mut stop);
        assert!(ended.unwrap().is_none());
    }

    #[test]
    fn absent_command_is_named() {
        let error =
            output("no-such-compiler -x", &mut Command::new("no-such-compiler"), LONG).unwrap_err();
        assert_eq!(error.to_string(), "cannot start 'no-such-compiler -x'");
    }
}
