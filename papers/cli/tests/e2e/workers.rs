//! `seatmap-papers workers`: its output, not its speed.

use crate::common::{Json, Place, assert_contains, stderr, two_cpus};
use serde_json::Value;

fn number(document: &Value, pointer: &str) -> f64 {
    document.pointer(pointer).and_then(Value::as_f64).unwrap()
}

#[test]
fn every_call_is_timed_both_ways() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let found = place.json(format!("workers --cpus {cpus} --workers 2 --turns 1 --json"));
    assert_eq!(
        (&found["format"], found["calls"].elements().len()),
        (&"seatmap-workers/1".into(), 2)
    );
    for call in
        ["CtxRun", "ThrCreate", "ThrJoin", "PgmLoad", "MBoxWr", "MBoxRd", "Acquire", "Release"]
    {
        for way in ["runtime", "threads"] {
            let at = |key: &str| number(&found, &format!("/calls/1/calls/{call}/{way}/{key}"));
            assert!(
                at("median_ns") >= 0.0 && at("deviation_ns") >= 0.0 && at("samples") == 40.0,
                "{call} {way}"
            );
        }
    }
    assert!(found["calls"][0]["calls"].get("MapPS").is_none(), "{found}");
}

#[test]
fn programs_compute_correct_results() {
    let place = Place::new();
    let cpu = two_cpus().unwrap_or_else(|| "0".to_owned()).split(',').next().unwrap().to_owned();
    for program in ["matrix:64:2", "black-scholes:1:1"] {
        // The command checks its results, and fails if they are wrong.
        let found = place.json(["workers", program, "--cpus", &cpu, "--turns", "1", "--json"]);
        let [runtime, threads] = ["runtime", "thread_per_worker"]
            .map(|way| number(&found["program"], &format!("/{way}/median_ns")));
        let gain = number(&found, "/program/gain_percent/thread_per_worker");
        assert!((gain - (threads - runtime) / threads * 100.0).abs() < 1e-9, "{found}");
        assert_eq!(found["program"]["workload"], program);
    }
}

#[test]
fn streams_cover_the_papers_configurations() {
    let found = Place::new().json("workers streams --seconds 500ms --json");
    let streams = found["streams"].elements();
    let names: Vec<&str> = streams.iter().map(|one| one["configuration"].text()).collect();
    assert_eq!(names, ["SingleRxTx", "TwoRxTx", "TwoRxTx-NoPrio", "TwoRxTx-Prio"]);
    let parts = |at: usize| {
        [&streams[at]["mbps"], &streams[at]["shares"]].map(|part| part.elements().len())
    };
    assert_eq!([0, 1, 2, 3].map(parts), [[1, 0], [1, 0], [2, 2], [2, 2]]);
}

#[test]
fn model_reproduces_papers_table_and_fading_gains() {
    let place = Place::new();
    let line = "workers cellule --on cell-qs20 --workers 1 --turns 1 --json --html x.html";
    let found = place.json(line.split(' ').collect::<Vec<_>>());
    assert_eq!(found["cpus"], serde_json::json!([16, 0]));
    let median = |call: &str, style: &str| {
        number(&found["cellule"], &format!("/calls/0/times/{call}/{style}/median_ns"))
    };
    assert!((median("ThrCreate", "linux") / 1_433_500.0 - 1.0).abs() < 0.01, "{found}");
    assert!((median("MBoxRd", "cell") / 9_600.0 - 1.0).abs() < 0.02, "{found}");
    let gain = |size: usize| {
        let at = format!("/figures/0/series/0/points/{size}/gain_percent");
        number(&found["cellule"], &at)
    };
    assert!(gain(0) > gain(1) && gain(1) > gain(3) && gain(3) > 0.0, "{found}");
    assert!(number(&found["cellule"], "/perturbed/0/least_percent") < 0.0, "{found}");
    let page = place.read("x.html");
    assert!(page.contains("Taken as given") && page.contains("linux_fault_us"), "{page}");
}

#[test]
fn conflicting_options_are_refused() {
    let place = Place::new();
    let lines = [
        "workers matrix:100",
        "workers calls --svg x.svg",
        "workers calls --seconds 1",
        "workers matrix:64:2 --seconds 1",
        "workers streams --seconds 2x",
        "workers streams --turns 3",
        "workers streams --workers 1",
        "workers --cpus 0 --workers 2",
        "workers --workers 0 --cpus 0,1",
        "workers cellule",
        "workers cellule --on xeon-phi-5110p",
        "workers cellule --on cell-qs20 --workers 9",
        "workers cellule --on cell-qs20 --cpus 0",
        "workers cellule --on cell-qs20 --set linux_tick_us=-1",
        "workers calls --seed 1",
        "workers calls --ports",
    ];
    let told: Vec<String> =
        lines.iter().map(|line| place.refusal(line).lines().next().unwrap().to_owned()).collect();
    insta::assert_snapshot!(told.join("\n"));
    assert!(place.refusal("workers --cpus 100000").contains("CPU 100000 does not exist"));
}

#[test]
fn html_page_shows_results() {
    let place = Place::new();
    let cpu = two_cpus().unwrap_or_else(|| "0".to_owned()).split(',').next().unwrap().to_owned();
    let ask = ["workers", "matrix:64:1", "--cpus", &cpu, "--turns", "1", "--html"];
    assert!(place.stdout((ask, "x.html")).contains("results are right"));
    let page = place.read("x.html");
    assert!(
        page.contains("matrix:64:1 takes ")
            && page.contains("% less time") | page.contains("% more time"),
        "{page}"
    );
    assert!(place.stdout((ask, "-")).starts_with("<!DOCTYPE html>"));
    place.refuses((ask, "- --json"), "both print to stdout");
}

#[test]
fn missing_c_compiler_is_an_error() {
    let place = Place::new();
    let output =
        place.command("workers libspe2").env("SEATMAP_CELLCC", "no-such-cellcc").output().unwrap();
    let words = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert_contains(
        &words,
        "no-such-cellcc: it does not exist; 'make install-lib PREFIX=FOLDER' installs it",
    );
}
