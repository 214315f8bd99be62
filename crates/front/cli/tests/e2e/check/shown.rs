//! Programs that a launcher seats: the check knows their seats without a file.

use super::{bind, check_pid, tids, until};
use crate::common::Place;
use crate::run::programs::{self, two_cpus};
use crate::run::running::Running;
use std::process::Stdio;

#[test]
fn a_thread_that_was_moved_is_named() {
    let ([a, b], Some(spin)) = (two_cpus(), programs::spin()) else { return };
    let (place, list) = (Place::new(), format!("{a},{b}"));
    let mut command = place.command(&["run", "--quiet", "--cpus", &list, "--strict", "--", spin, "1", "sleep"]);
    command.stdin(Stdio::piped());
    let program = Running::of(command);
    let pid = program.program();
    let worker = tids(pid)[1];
    bind(worker, &[a]);
    // The launcher shows a new thread a moment after it was created.
    let checked = until(|| check_pid(&place, pid, &[]), |checked| checked.code == Some(1));
    let what = checked.wrong("expect")["what"].as_str().unwrap();
    assert!(what.contains(&format!("thread {worker} ")) && what.contains("task 1"), "{what}");
    bind(worker, &[b]);
    check_pid(&place, pid, &[]).assert_healthy();
    check_pid(&place, pid, &["--rule", "one-per-cpu"]).assert_healthy();
}
