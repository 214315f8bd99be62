//! Atomics, forks, signals, and unobserved programs.

use crate::built::{Program, done, library, stdout, there_is};
use seatmap_observe::tsan;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

#[test]
fn traced_atomic_operations_work() {
    if there_is("gcc") {
        assert_eq!(Program::shared("gcc", &["-mcx16"], "atomics.c").run(&[]), "right\n");
        let unobserved = Program::fixed("gcc", &["-mcx16"], "atomics.c");
        assert_eq!(stdout(unobserved.command().env_remove("SEATMAP_TRACE")), "right\n");
        assert_eq!(std::fs::read_dir(unobserved.traces()).unwrap().count(), 0);
    }
}

#[test]
fn fork_and_signal_write_separate_traces() {
    if !there_is("gcc") {
        return;
    }
    let program = Program::shared("gcc", &[], "ends.c");
    let printed = program.run(&[]);
    let (child, signal) = printed.trim().split_once(' ').unwrap();
    assert_eq!(signal, "15");
    let sharing = tsan::read(&program.traces()).unwrap();
    assert!(sharing.observation.unseen.is_empty(), "{:?}", sharing.observation.unseen);
    let paths: Vec<_> = sharing.observation.tasks.iter().map(|task| task.path.as_str()).collect();
    assert_eq!(paths, ["0", "0.0", "1", "1.0", "1.1"]);
    assert_eq!(sharing.observation.tasks[2].pid.to_string(), child);
    let shared: Vec<_> = sharing.lines.iter().filter(|line| line.written == "shared+0").collect();
    // Each process has one line of this name.
    assert_eq!(shared.iter().map(|line| line.truly).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn trace_folder_may_have_any_name() {
    if !there_is("gcc") {
        return;
    }
    let program = Program::shared("gcc", &[], "ends.c");
    let folder = program.traces().join(OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&folder).unwrap();
    done(program.command().env("SEATMAP_TRACE", &folder));
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 2);
}

#[test]
fn other_programs_are_not_affected() {
    let folder = tempfile::tempdir().unwrap();
    let preload = library().join("libseatmap_trace.so");
    let mut sort = Command::new("sort");
    sort.args(["--version"]).env("LD_PRELOAD", preload).env("SEATMAP_TRACE", folder.path());
    let output = done(&mut sort);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
