//! The papers' verbs together with `seatmap`: the same figures, on machines that `seatmap` created.

use crate::common::{Arguments, Place, assert_contains, stderr, stdout};
use std::path::Path;

/// `seatmap`'s stdout, from the tested program's folder. Skips with a message if only this package
/// was built.
pub fn product(place: &Place, arguments: impl Arguments) -> Option<String> {
    let seatmap = Path::new(crate::PROGRAM).with_file_name("seatmap");
    if !seatmap.exists() {
        seatmap_needs::skipped!("seatmap is not built: the tests of the whole workspace build it");
        return None;
    }
    let output = place.command_of(&seatmap).args(arguments.words()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    Some(stdout(&output))
}

#[test]
fn twin_can_be_used_as_machine() {
    let place = Place::new();
    if product(&place, "model fit xeon-e5-2680-2s -o twin.toml").is_none() {
        return;
    }
    let stats = place.stdout("stats --on twin.toml -f fetchadd -n 4 -i 100");
    assert_contains(&stats, "xeon-e5-2680-2s-twin");
    let rank = "rank --on twin.toml --pattern ring:4 --sample 3 --runs 1 --json";
    assert!(place.stdout(rank).contains("xeon-e5-2680-2s-twin"));
}
