//! Job control: a job that is stopped and continued, as a shell does it.

use super::passing::forms;
use super::programs;
use super::running::Running;
use crate::common::Place;
use std::os::unix::process::CommandExt;

/// The letter of a process's state, as `/proc` has it.
fn state(pid: libc::pid_t) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().chars().next().unwrap()
}

/// Waits until a child of ours stops.
fn wait_for_stop(pid: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: `status` is writable.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, libc::WUNTRACED) }, pid);
    assert!(libc::WIFSTOPPED(status), "{status:#x}");
    libc::WSTOPSIG(status)
}

#[test]
fn a_job_stops_and_goes_on_as_one() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        let place = Place::new();
        let options: Vec<&str> = form.iter().map(String::as_str).collect();
        let arguments = [&["run", "--quiet"][..], &options, &["--", program, "count", "10"]].concat();
        let mut command = place.command(&arguments);
        command.process_group(0);
        let mut running = Running::of(command);
        let (launcher, program) = (running.pid(), running.program());
        for signal in [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTSTP] {
            // SAFETY: the group is the launcher's own.
            unsafe { libc::kill(-launcher, signal) };
            assert_eq!(wait_for_stop(launcher), signal, "{form:?}");
            // One that is let go in its stop passes from one kind of stop to the other.
            while !['T', 't'].contains(&state(program)) {
                std::thread::yield_now();
            }
            // SAFETY: as above.
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
fn a_program_that_is_stopped_alone_stops_alone() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        let place = Place::new();
        let options: Vec<&str> = form.iter().map(String::as_str).collect();
        let mut running = Running::start(&place, &options, &[program, "count", "10"]);
        let program = running.program();
        for signal in [libc::SIGSTOP, libc::SIGUSR1, libc::SIGCONT] {
            // SAFETY: the program waits for signals, so its number is its own.
            unsafe { libc::kill(program, signal) };
        }
        assert_eq!(running.line(), "signal 10", "{form:?}");
        running.send(libc::SIGTERM);
        assert_eq!((running.line().as_str(), running.wait().code()), ("signal 15", Some(0)));
    }
}
