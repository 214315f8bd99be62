//! `seatmap doctor`.

use crate::common::Place;

#[test]
fn everything_that_disturbs_is_examined() {
    let place = Place::new();
    let found = place.json(&["doctor", "--json"]);
    let subjects: Vec<&str> = found.as_array().unwrap().iter().filter_map(|entry| entry["subject"].as_str()).collect();
    for subject in ["clock", "hypervisor", "steal", "governor", "turbo", "smt", "load", "cpuset", "offline"] {
        assert!(subjects.contains(&subject), "{subject}");
    }
    for entry in found.as_array().unwrap() {
        assert!(["OK", "INFO", "FIX", "NO"].contains(&entry["level"].as_str().unwrap()), "{entry}");
        let mends = entry["level"] == "FIX";
        assert!(!mends || entry["remedy"].is_string(), "{entry}");
    }
    let lines = place.stdout(&["doctor"]);
    assert!(subjects.iter().all(|subject| lines.contains(subject)), "{lines}");
}
