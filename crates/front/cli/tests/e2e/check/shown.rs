//! Programs seated by a launcher: the check needs no file.

use super::{PATIENCE, bind, check_pid, tids, until};
use crate::common::{Json, Place};
use crate::run::programs::{self, two_cpus};
use crate::run::running::Running;
use std::process::Stdio;
use std::time::Instant;

/// In a Slurm step the launcher runs next to its program.
#[test]
fn launcher_needs_no_seat() {
    let ([a, b], Some(spin)) = (two_cpus(), programs::spin()) else { return };
    let place = Place::new();
    let report = place.path("seating.json").display().to_string();
    let list = format!("{a},{b}");
    let seated = [
        "run", "--quiet", "--cpus", &list, "--strict", "--report", &report, "--", spin, "1",
        "sleep",
    ];
    let step = |command: &mut std::process::Command| {
        command.env("SLURM_JOB_ID", "7001").env("SLURM_STEP_ID", "0");
    };
    let mut command = place.command(seated);
    step(command.stdin(Stdio::piped()));
    let program = Running::of(command);
    let pid = program.program();
    let check = || {
        let mut command = place.command("check --slurm-step --rule one-per-cpu --json");
        step(&mut command);
        let output = command.output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let begun = Instant::now();
    let mut checked = check();
    while checked["threads"].elements().len() != 2 {
        assert!(begun.elapsed() < PATIENCE, "{checked}");
        checked = check();
    }
    let processes: Vec<_> =
        checked["processes"].elements().iter().map(|process| &process["pid"]).collect();
    assert_eq!(processes, [&serde_json::Value::from(pid)], "{checked}");
    assert_eq!(checked["findings"], serde_json::json!([]));
}

#[test]
fn moved_thread_is_named() {
    let ([a, b], Some(spin)) = (two_cpus(), programs::spin()) else { return };
    let place = Place::new();
    let list = format!("{a},{b}");
    let mut command =
        place.command(["run", "--quiet", "--cpus", &list, "--strict", "--", spin, "1", "sleep"]);
    command.stdin(Stdio::piped());
    let program = Running::of(command);
    let pid = program.program();
    let worker = tids(pid)[1];
    bind(worker, &[a]);
    // The launcher publishes a new thread's seat a moment later.
    let checked = until(|| check_pid(&place, pid, ""), |checked| checked.code == Some(1));
    let what = checked.wrong("expect")["what"].text();
    assert!(what.contains(&format!("thread {worker} ")) && what.contains("task 1"), "{what}");
    bind(worker, &[b]);
    check_pid(&place, pid, "").assert_healthy();
    check_pid(&place, pid, "--rule one-per-cpu").assert_healthy();
}
