//! `seatmap-papers study`: figures computed by the commands of a study.

use crate::common::{Json, Place, assert_contains, stderr, stdout};

const OWN: &str = r#"
format = "seatmap-study/3"
name = "own"
title = "Two figures"
paper = "Nobody 2026"
about = "Enough to see a study work."

[[figure]]
place = "table 2"
what = "an SPE's round trip"
command = "stats -f mailbox -s --on cell-ps3"
value = "/latency_ns"
published = 160.1
unit = "ns"
kind = "calibration"

[[figure]]
place = "section 1"
what = "random over best"
command = "place --on cell-ps3 --pattern ring:3 --kicks 100"
value = "/baselines/random/mean"
over_value = "/cost"
says = "random placements are better than the best"
below = 0.9
null = { what = "the best over itself", value = "/cost" }
unit = ""
kind = "check"
note = "Random placements are not better than the best."

[[figure]]
place = "section 2"
what = "the identity's time less itself"
command = "rank --on cell-ps3 --pattern ring:4 --rounds 20"
minus = "rank --on cell-ps3 --pattern ring:4 --rounds 20"
value = "/ranking/[[0123]]/mean_ns"
published = 0
digit = 0.1
unit = "ns"
kind = "check"

[[figure]]
place = "section 3"
what = "the mean over the best"
command = "place --on cell-ps3 --pattern ring:3 --kicks 100"
value = "/baselines/random/mean"
over_value = "/cost"
says = "random placements are slower than nothing"
above = 0.5
null = { what = "the best over itself", value = "/cost" }
unit = ""
kind = "check"

[[table]]
title = "Skew"
about = "The time of the best mapping."
rows = "skew"
value = "/best_mean_ns"
per = 20
column = [{ name = "2 KB", word = "--packet 2k" }, { name = "512 B", word = "--packet 512", published = 2.0 }]
row = [
    { what = "as it is", command = "rank --on cell-ps3 --pattern ring:3 --rounds 20 COLUMN" },
    { what = "none", command = "rank --on cell-ps3 --pattern ring:3 --rounds 20 COLUMN --set start_skew_cycles=0", note = "Less." },
]

[[picture]]
title = "A ranking"
file = "ranking.svg"
command = "rank --on cell-ps3 --pattern ring:4 --rounds 20 --svg FILE"
"#;

#[test]
fn custom_study_is_judged_and_written() {
    let place = Place::new();
    place.file("own.toml", OWN);
    let found = place.json("study own.toml --write pages --json");
    let figures = found["studies"][0]["figures"].elements();
    let verdicts: Vec<&str> = figures.iter().map(|figure| figure["verdict"].text()).collect();
    // A random placement can equal the best one, but not beat it.
    assert!(["miss", "reverse"].contains(&verdicts[1]), "{found}");
    // The last row's arm without the effect agrees too.
    assert_eq!(
        [verdicts[0], verdicts[2], verdicts[3]],
        ["calibrated", "equal", "unproven"],
        "{found}"
    );
    assert_eq!(figures[3]["null"]["ours"], 1.0, "{found}");
    assert_eq!(figures[1]["null"]["ours"], serde_json::Value::Null, "{found}");
    assert!(figures[1]["ours"].as_f64() >= Some(1.0), "{found}");
    let page = place.read("pages/own.md");
    assert_contains(&page, "4 rows: 1 equal, 0 direction, 1 unproven, ");
    assert!(page.contains("| **") && page.contains(" | within 0.1 |"), "{page}");
    assert_contains(&page, " | 1.000: the best over itself |");
    assert_contains(&page, "Random placements are not better than the best.");
    let rows = found["studies"][0]["tables"][0]["rows"].elements();
    let times: Vec<f64> =
        rows.iter().flat_map(|row| row["ours"].elements()).map(|ours| ours.number()).collect();
    assert!(times.len() == 4 && times[0] > times[1] && times[0] != times[2], "{found}");
    assert!(page.contains("## Skew") && page.contains("- **none**: Less."), "{page}");
    let rows = place.read("pages/own.csv");
    assert_contains(
        &rows,
        "seatmap-papers rank --on cell-ps3 --pattern ring:3 --rounds 20 --packet 512 --set",
    );
    for picture in ["pages/own.svg", "pages/ranking.svg"] {
        assert!(place.read(picture).starts_with("<svg"), "{picture}");
    }
}

#[test]
fn first_page_counts_the_verdicts_of_all_rows() {
    if !seatmap_needs::program("python3", &["--version"]) {
        return;
    }
    let script = format!("{}/scripts/verdicts", crate::REPOSITORY);
    let output = std::process::Command::new(script).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_contains(&stdout(&output), "direction: liu-2015, ");
}

#[test]
fn invalid_studies_are_refused() {
    let place = Place::new();
    place.file("torn.toml", "format = \"seatmap-study/3\"\nname = ");
    place.file(
        "bound.toml",
        OWN.replace("says = \"random placements are better than the best\"\n", ""),
    );
    place.file("other.toml", OWN.replace("study/3", "study/7"));
    place.file("wrong.toml", OWN.replace("/cost", "/nothing"));
    insta::assert_snapshot!(place.refusal("study torn.toml"));
    insta::assert_snapshot!(place.refusal("study other.toml"));
    insta::assert_snapshot!(place.refusal("study nobody"));
    insta::assert_snapshot!(place.refusal("study bound.toml"));
    let wrong = place.run("study wrong.toml");
    assert_eq!(wrong.status.code(), Some(1));
    let told = stderr(&wrong);
    assert_contains(&told, "2 rows could not be run here");
    assert_contains(&told, "has no number at /nothing");
    // The other rows are printed.
    let printed = stdout(&wrong);
    assert_contains(&printed, "calibrated table 2: an SPE's round trip");
    assert_contains(&printed, "not run    section 1: random over best");
    assert_contains(&printed, "2 not run on this computer.");
}
