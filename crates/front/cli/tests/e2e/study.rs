//! `seatmap study`: figures by the commands that stand beside them.

use crate::common::Place;

const OWN: &str = r#"
format = "seatmap-study/1"
name = "own"
title = "Two figures"
paper = "Nobody 2026"
about = "Enough to see a study work."

[[figure]]
what = "an SPE's round trip"
command = "stats -f mailbox -s --on cell-ps3"
value = "/latency_ns"
published = 160.1
unit = "ns"
kind = "calibration"

[[figure]]
what = "random over best"
command = "place --on cell-ps3 --pattern ring:3 --objective simulated --kicks 100"
value = "/baselines/random/mean"
over_value = "/cost"
below = 1.0
unit = ""
kind = "check"
note = "Random placements are not better than the best."

[[picture]]
title = "A ranking"
file = "own.svg"
command = "rank --on cell-ps3 --pattern ring:4 --rounds 20 --svg FILE"
"#;

#[test]
fn a_study_of_ones_own() {
    let place = Place::new();
    place.file("own.toml", OWN);
    let found = place.json(&["study", "own.toml", "--write", "pages", "--json"]);
    let figures = found["studies"][0]["figures"].as_array().unwrap();
    assert_eq!((&figures[0]["is_met"], &figures[1]["is_met"]), (&true.into(), &false.into()), "{found}");
    assert!(figures[1]["ours"].as_f64() >= Some(1.0), "{found}");
    let page = place.read("pages/own.md");
    assert!(page.contains("0 of 1 checks met, 1 of 1 calibrations"), "{page}");
    assert!(page.contains("Random placements are not better than the best."), "{page}");
    assert!(place.read("pages/own.svg").starts_with("<svg"), "a picture");
}

#[test]
fn what_is_no_study_is_refused() {
    let place = Place::new();
    place.file("torn.toml", "format = \"seatmap-study/1\"\nname = ");
    place.file("other.toml", OWN.replace("study/1", "study/7"));
    place.file("wrong.toml", OWN.replace("/cost", "/nothing"));
    insta::assert_snapshot!(place.refusal(&["study", "torn.toml"]));
    insta::assert_snapshot!(place.refusal(&["study", "other.toml"]));
    insta::assert_snapshot!(place.refusal(&["study", "nobody"]));
    let wrong = place.run(&["study", "wrong.toml"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("has no number at /nothing"));
}
