//! The papers' verbs under the kernel's limits.

use crate::common::{Place, assert_contains, stderr, stdout, two_cpus, with_one_thread};
use std::process::Command;

/// If no second thread can start, the results are the same or there is an error, but no panic.
#[test]
fn thread_limit_never_panics_or_changes_results() {
    let study = "rank --runs 2 --on cell-qs20 --pattern ring:4";
    let Some(output) = with_one_thread(study) else { return };
    let said = stderr(&output);
    assert!(output.status.success() && !said.contains("panicked"), "{said}");
    assert_eq!(output.stdout, Place::new().run(study).stdout);
    let Some(output) = with_one_thread("workers") else { return };
    let said = stderr(&output);
    assert!(matches!(output.status.code(), Some(1 | 2)) && !said.contains("panicked"), "{said}");
    assert_contains(&said, "temporarily unavailable");
}

/// A few runs of the verbs whose threads depend most on each other.
#[test]
fn waits_end_when_cpu_is_removed() {
    if two_cpus().is_none() || !seatmap_needs::tool("python3") {
        return;
    }
    let place = Place::new();
    let script = format!("{}/bench/taken/run", crate::REPOSITORY);
    let mut command = Command::new("python3");
    command.args([&script, "--papers", crate::PROGRAM, "--runs", "3", "workers", "stats", "rank"]);
    let output = command.current_dir(place.folder()).output().unwrap();
    if output.status.code() == Some(3) {
        return seatmap_needs::skipped!("{}", stderr(&output));
    }
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
}
