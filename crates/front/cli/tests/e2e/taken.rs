//! CPUs that disappear under pinned threads, and the resulting void runs.

use crate::common::{Arguments, Place, assert_contains, stderr, stdout};
use crate::real_cells::highest;
use std::process::{Command, Output};

/// The script that removes CPUs. `bench/taken/run` does so for every verb.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bench/taken/run");

/// Runs the script. `None` if it can have no control group.
fn taken(options: impl Arguments) -> Option<Output> {
    if !Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        seatmap_needs::skipped!("no python3");
        return None;
    }
    let place = Place::new();
    let mut script = Command::new("python3");
    script
        .args([SCRIPT, "--seatmap", crate::PROGRAM])
        .args(options.words())
        .current_dir(place.folder());
    let output = script.output().unwrap();
    if output.status.code() == Some(3) {
        seatmap_needs::skipped!("{}", stderr(&output));
        return None;
    }
    Some(output)
}

/// Runs the verbs with the most waiting between threads.
#[test]
fn waits_end_when_cpu_is_removed() {
    let _alone = highest();
    let Some(output) = taken("--runs 3 measure run") else { return };
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
}

/// CPU 1 disappears during the third run and then returns.
#[test]
fn runs_losing_cpus_are_repeated() {
    let _alone = highest();
    let Some(output) = taken("--void") else { return };
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
    assert_contains(&text, "Note: some runs lost CPUs and were repeated: ");
}
