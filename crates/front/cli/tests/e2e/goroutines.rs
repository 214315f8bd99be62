//! `seatmap observe --method goroutines`, on a Go program whose threads hand goroutines to each
//! other.

use crate::common::{Arguments, Place, assert_contains, can_observe, stderr};
use crate::observe::{kinds, names, share_of_neighbours};
use crate::run::programs::go_builds;
use serde_json::Value;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bench/observe/threads.go");
const WITHOUT_SYMBOLS: &str = "-ldflags=-s -w";

/// The program, with and without symbols, and the schedule of a ring of eight. `None` if it cannot
/// be built or observed here.
fn ring() -> Option<Place> {
    let place = Place::new();
    let with = go_builds(SOURCE, &place.path("ring"), &[]);
    if !can_observe() || !with || !go_builds(SOURCE, &place.path("bare"), &[WITHOUT_SYMBOLS]) {
        return None;
    }
    let lines: String =
        (0..8).map(|task| format!("+{} -{}\n", (task + 1) % 8, (task + 7) % 8)).collect();
    place.file("schedule", format!("8 2000 100\n{lines}"));
    Some(place)
}

/// Observes a command. `None` if the kernel allows no probes on functions.
fn observed(place: &Place, command: impl Arguments) -> Option<Value> {
    let options = "observe --method goroutines --json --";
    let output = place.run((options, command));
    if !output.status.success() {
        seatmap_needs::skipped!("{}", stderr(&output));
        return None;
    }
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn locked_goroutines_show_communicating_threads() {
    let Some(place) = ring() else { return };
    for program in ["./ring", "./bare"] {
        let Some(pattern) = observed(&place, [program, "schedule", "channel"]) else { return };
        let methods = &pattern["observation"]["methods"];
        assert_eq!(methods, &serde_json::json!(["wakeups", "sockets", "goroutines"]));
        assert!(names(&pattern).contains(&"w7"), "{program}: {:?}", names(&pattern));
        let share = share_of_neighbours(&pattern);
        assert!(share > 0.9, "{program}: {share}");
        let kinds = kinds(&pattern);
        assert!(kinds["goroutine"] > 8.0 && !kinds.contains_key("futex"), "{program}: {kinds:?}");
    }
}

#[test]
fn other_languages_show_no_goroutines() {
    if !can_observe() {
        return;
    }
    let Some(pattern) = observed(&Place::new(), "sleep 0.1") else { return };
    let unseen = pattern["observation"]["unseen"].to_string();
    assert_contains(&unseen, "goroutines: the program is not a Go program");
}
