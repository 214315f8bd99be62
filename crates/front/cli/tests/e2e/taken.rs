//! CPUs that disappear while threads are pinned to them, and the runs that become void.

use crate::common::{Arguments, Place, assert_contains, stderr, stdout};
use crate::real_cells::highest;
use std::process::{Command, Output};

/// It removes CPUs.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bench/taken/run");

/// `None` if the script can have no control group.
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

/// Locked, because a cell cannot exist next to the script's group.
#[test]
fn every_wait_ends_when_a_cpu_is_taken_away() {
    let _alone = highest();
    let Some(output) = taken("--runs 3 measure run") else { return };
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
}

#[test]
fn runs_without_all_their_cpus_are_void_and_made_again() {
    let _alone = highest();
    let Some(output) = taken("--void") else { return };
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
    assert_contains(
        &text,
        "Note: runs were void and made again, since CPUs were taken away from them: ",
    );
}
