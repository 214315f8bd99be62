//! Exit codes, signals, streams and the terminal pass through Seatmap.

use super::programs::{self, list, two_cpus};
use super::run;
use super::running::Running;
use crate::common::{Place, in_front_of, stderr, terminal};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Stdio;

/// The three ways to run a program: traced to its end, traced until the last seat is taken, and not
/// traced.
pub fn forms() -> [Vec<String>; 3] {
    let [a, b] = two_cpus();
    let form = |cpus: &[u32], more: &[&str]| {
        ["--cpus", &list(cpus)].iter().chain(more).map(|word| (*word).to_owned()).collect()
    };
    [form(&[a, b], &[]), form(&[a], &["--once"]), form(&[a], &["--match", "no thread's name=0"])]
}

#[test]
fn exit_code_is_passed_on() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        for code in [0, 1, 7, 255] {
            let told = run(&Place::new(), &form, [program, "exit", &code.to_string()]);
            assert_eq!(told.output.status.code(), Some(code), "{form:?}");
        }
    }
}

#[test]
fn death_by_signal_is_passed_on() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        for signal in [
            libc::SIGTERM,
            libc::SIGABRT,
            libc::SIGSEGV,
            libc::SIGKILL,
            libc::SIGRTMIN(),
            libc::SIGPIPE,
        ] {
            let place = Place::new();
            let told = run(&place, &form, [program, "die", &signal.to_string()]);
            assert_eq!(told.output.status.signal(), Some(signal), "{form:?}");
        }
    }
}

#[test]
fn program_inherits_standard_streams() {
    for form in forms() {
        let place = Place::new();
        let program = ["--", "sh", "-c", "cat; echo told >&2"];
        let mut command = place.command(("run --quiet", &form, program));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let bytes: Vec<u8> = (0..1 << 20).map(|at: u32| (at.wrapping_mul(at) >> 7) as u8).collect();
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(|| {
                stdin.write_all(&bytes).unwrap();
                drop(stdin);
            });
            child.wait_with_output().unwrap()
        });
        assert!(output.stdout == bytes && output.status.success(), "{form:?}");
        // Even a quiet run reports that other tests' programs share its CPUs.
        let shown = stderr(&output);
        let is_programs = |line: &&str| !line.contains(" is also the seat of ");
        assert_eq!(shown.lines().filter(is_programs).collect::<Vec<_>>(), ["told"]);
    }
}

/// Lost output must be an error for the program.
#[test]
fn closed_streams_stay_closed_for_program() {
    let run = |redirection: &str, program: &str| {
        let line = format!("\"$0\" run -q -c {} -- {program} {redirection}", two_cpus()[0]);
        std::process::Command::new("sh").args(["-c", &line, crate::PROGRAM]).output().unwrap()
    };
    assert_eq!(run(">&-", "sh -c '[ ! -e /proc/self/fd/1 ]'").status.code(), Some(0));
    assert_eq!(
        run("<&- 2>&-", "sh -c '[ -e /proc/self/fd/1 ] && [ ! -e /proc/self/fd/2 ]'").status.code(),
        Some(0)
    );
    assert_ne!(run(">&-", "/bin/echo lost").status.code(), Some(0));
}

#[test]
fn unwritable_report_is_a_failure() {
    let cpu = two_cpus()[0].to_string();
    let run = |program: &str| {
        let place = Place::new();
        place
            .command(["run", "-q", "-c", &cpu, "--report", "/dev/full", "--", "sh", "-c", program])
            .output()
            .unwrap()
    };
    let failed = run("exit 0");
    assert_eq!(failed.status.code(), Some(1));
    let told = stderr(&failed);
    assert!(told.starts_with("seatmap: /dev/full: "), "{told}");
    assert_eq!(run("exit 7").status.code(), Some(7), "the program's own failure goes before");
}

#[test]
fn launcher_forwards_signals() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        for signal in [
            libc::SIGUSR1,
            libc::SIGINT,
            libc::SIGHUP,
            libc::SIGALRM,
            libc::SIGWINCH,
            libc::SIGRTMAX(),
        ] {
            let place = Place::new();
            let mut running =
                Running::start(&place, &form, [program, "count", &signal.to_string()]);
            for _ in 0..3 {
                running.send(signal);
                assert_eq!(running.line(), format!("signal {signal}"), "{form:?}");
            }
            running.send(libc::SIGTERM);
            assert_eq!(running.line(), format!("signal {}", libc::SIGTERM));
            assert_eq!(running.wait().code(), Some(0));
        }
    }
}

/// The terminal signals the whole foreground group, so the launcher must not repeat it.
#[test]
fn ctrl_c_reaches_program_once() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        let place = Place::new();
        let (mut keys, terminal) = terminal();
        let mut command = place.command(("run --quiet", &form, &["--", program, "count", "2"]));
        in_front_of(terminal, command.stderr(Stdio::null()));
        let mut running = Running::of(command);
        for _ in 0..3 {
            keys.write_all(b"\x03").unwrap();
            assert_eq!(running.line(), "signal 2", "{form:?}");
        }
        running.send(libc::SIGTERM);
        assert_eq!(running.line(), "signal 15", "{form:?}");
        assert_eq!(running.wait().code(), Some(0));
    }
}

#[test]
fn ignored_sigchld_changes_nothing() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        let place = Place::new();
        let mut command = place.command(("run --quiet", &form, &["--", program, "exit", "7"]));
        // SAFETY: the call is async-signal-safe.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGCHLD, libc::SIG_IGN);
                Ok(())
            });
        }
        assert_eq!(command.output().unwrap().status.code(), Some(7), "{form:?}");
    }
}

#[test]
fn killed_launcher_leaves_program_running() {
    let Some(program) = programs::c() else { return };
    for form in forms() {
        let place = Place::new();
        let mut running = Running::start(&place, &form, [program, "count", "10"]);
        let program = running.program();
        running.send(libc::SIGKILL);
        assert_eq!(running.wait().signal(), Some(libc::SIGKILL));
        for (signal, line) in [(libc::SIGUSR1, "signal 10"), (libc::SIGTERM, "signal 15")] {
            // SAFETY: the program is alive, waiting for signals.
            unsafe { libc::kill(program, signal) };
            assert_eq!(running.line(), line, "{form:?}");
        }
    }
}
