//! Ctrl-C, SIGKILL and what comes after.

use crate::common::{Place, files};
use std::process::{Child, Output, Stdio};

const MACHINE: [&str; 8] = ["measure", "--on", "graviton3", "--cpus", "0-15", "--passes", "60", "-o"];

/// More passes than anybody waits for.
const ENDLESS: [&str; 8] = ["measure", "--on", "graviton3", "--cpus", "0-15", "--passes", "100000", "-o"];

/// Starts a run and waits until it has kept some visits.
fn started(place: &Place) -> Child {
    let arguments = [&ENDLESS[..], &["x.json"]].concat();
    let mut command = place.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while lines(place) < 300 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    child
}

fn lines(place: &Place) -> usize {
    std::fs::read(place.path("x.json.journal")).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

fn signalled(mut child: Child, signal: i32) -> Output {
    // SAFETY: the child has not been waited for, so its number is still its own.
    let sent = unsafe { libc::kill(child.id() as libc::pid_t, signal) };
    assert_eq!(sent, 0);
    child.wait().unwrap();
    child.wait_with_output().unwrap()
}

fn resumed(place: &Place) -> serde_json::Value {
    place.stdout(&[&MACHINE[..], &["x.json", "--resume"]].concat());
    assert_eq!(files(place), ["x.json"], "the journal is gone");
    serde_json::from_str(&place.read("x.json")).unwrap()
}

/// The journal of a run with too many passes, cut to one that a run of 60 passes may have left.
fn shortened(place: &Place) {
    let text = place.read("x.json.journal");
    let kept: Vec<&str> = text.lines().take(1000).collect();
    place.file("x.json.journal", kept.join("\n") + "\n");
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_says_how_to_go_on() {
    let place = Place::new();
    let output = signalled(started(&place), libc::SIGINT);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("seatmap: interrupted; ") && stderr.contains("--resume"), "{stderr}");
    assert!(output.stdout.is_empty());
    assert_eq!(files(&place), ["x.json.journal"]);
    let told: usize = stderr.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    assert_eq!(lines(&place), told + 1, "every visit told is on file, below the header");
    shortened(&place);
    let profile = resumed(&place);
    assert_eq!(profile["core_distance"]["protocol"]["passes"], 60);
    assert_eq!(profile["core_distance"]["protocol"]["kept"], 60 * 16 * 120);
}

#[test]
fn a_sigkill_loses_no_finished_visit() {
    let place = Place::new();
    let output = signalled(started(&place), libc::SIGKILL);
    assert_eq!(output.status.code(), None);
    assert!(lines(&place) >= 300);
    shortened(&place);
    // A line cut short, as a kill in the middle of a write leaves it.
    let torn = place.read("x.json.journal") + "{\"pass\":9,\"i\":0,\"j";
    place.file("x.json.journal", torn);
    assert_eq!(resumed(&place)["core_distance"]["protocol"]["kept"], 60 * 16 * 120);
}

#[test]
fn two_runs_do_not_disturb_each_other() {
    let place = Place::new();
    let first = started(&place);
    let line = place.run(&[&MACHINE[..], &["x.json"]].concat());
    assert!(String::from_utf8_lossy(&line.stderr).contains("another measurement is under way"), "{line:?}");
    assert!(!line.status.success());
    signalled(first, libc::SIGTERM);
}

#[test]
fn another_run_is_not_gone_on_with() {
    let place = Place::new();
    signalled(started(&place), libc::SIGINT);
    let other = ["measure", "--on", "graviton3", "--cpus", "0-3", "-o", "x.json", "--resume"];
    let line = place.one_line_refusal(&other);
    assert!(line.contains("belongs to another run (other CPUs)"), "{line}");
    place.file("x.json.journal", "no journal\n");
    let line = place.one_line_refusal(&[&MACHINE[..], &["x.json", "--resume"]].concat());
    assert!(line.contains("x.json.journal:1: "), "{line}");
}

#[test]
fn nothing_kept_cannot_be_resumed() {
    let line = Place::new().one_line_refusal(&["measure", "--on", "graviton3", "--resume"]);
    assert!(line.contains("--resume needs -o FILE"), "{line}");
}
