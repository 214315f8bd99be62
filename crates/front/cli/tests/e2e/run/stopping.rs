//! Job control: a job is stopped and continued as a shell does.

use super::passing::forms;
use super::programs;
use super::running::Running;
use crate::common::Place;
use std::os::unix::process::CommandExt;

fn state(pid: libc::pid_t) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().chars().next().unwrap()
}

const REQUESTS: u32 = 20;
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);
/// Looks at the launcher between two requests, a millisecond apart.
const LOOKS: u32 = 500;

/// Returns the signal that stopped the child. A stop request right after SIGCONT can be lost, so it
/// is repeated.
fn stopped_by(pid: libc::pid_t, signal: i32) -> Option<i32> {
    for _ in 0..REQUESTS {
        // SAFETY: the group belongs to the launcher.
        unsafe { libc::kill(-pid, signal) };
        for _ in 0..LOOKS {
            let mut status = 0;
            // SAFETY: `status` is writable.
            let found =
                unsafe { libc::waitpid(pid, &raw mut status, libc::WUNTRACED | libc::WNOHANG) };
            if found == pid {
                assert!(libc::WIFSTOPPED(status), "{status:#x}");
                return Some(libc::WSTOPSIG(status));
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    None
}

#[test]
fn job_stops_and_continues_as_one() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        let place = Place::new();
        let program = ["--", program, "count", "10"];
        let mut command = place.command(("run --quiet", &form, program));
        command.process_group(0);
        let mut running = Running::of(command);
        let launcher = running.pid();
        let program = running.program();
        for signal in [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTSTP] {
            assert_eq!(stopped_by(launcher, signal), Some(signal), "{form:?}");
            // The end of tracing turns a tracing stop into a normal one.
            let begun = std::time::Instant::now();
            while !['T', 't'].contains(&state(program)) {
                assert!(
                    begun.elapsed() < PATIENCE,
                    "{form:?}: the launcher has stopped, and the program runs"
                );
                std::thread::yield_now();
            }
            // SAFETY: the group belongs to the launcher.
            unsafe { libc::kill(-launcher, libc::SIGCONT) };
            running.send(libc::SIGUSR1);
            assert_eq!(running.line(), "signal 10", "{form:?}");
        }
        running.send(libc::SIGTERM);
        assert_eq!(running.line(), "signal 15");
        assert_eq!(running.wait().code(), Some(0));
    }
}

#[test]
fn stopped_program_leaves_launcher_running() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        let place = Place::new();
        let options: Vec<&str> = form.iter().map(String::as_str).collect();
        let mut running = Running::start(&place, &options, [program, "count", "10"]);
        let program = running.program();
        for signal in [libc::SIGSTOP, libc::SIGUSR1, libc::SIGCONT] {
            // SAFETY: the program is alive, waiting for signals.
            unsafe { libc::kill(program, signal) };
        }
        assert_eq!(running.line(), "signal 10", "{form:?}");
        running.send(libc::SIGTERM);
        assert_eq!((running.line().as_str(), running.wait().code()), ("signal 15", Some(0)));
    }
}
