//! Ctrl-C, SIGKILL and what comes after.

use crate::common::{Place, files};
use std::process::{Child, Output, Stdio};
use std::time::Duration;

const MACHINE: [&str; 8] = ["measure", "--on", "graviton3", "--cpus", "0-15", "--passes", "60", "-o"];

/// More passes than anybody waits for.
const ENDLESS: [&str; 8] = ["measure", "--on", "graviton3", "--cpus", "0-15", "--passes", "100000", "-o"];

/// Looks at the journal before a run counts as hung: minutes, where milliseconds are usual.
const MOST_LOOKS: u32 = 120_000;

/// Starts a run and waits until it has kept some visits.
#[expect(clippy::panic, reason = "helpers of tests fail as tests do")]
fn started(place: &Place) -> Child {
    let arguments = [&ENDLESS[..], &["x.json"]].concat();
    let mut command = place.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..MOST_LOOKS {
        if lines(place) >= 300 {
            return child;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    panic!("no visits were kept: {:?}", child.wait_with_output());
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

/// The journal of a run with too many passes, cut to one that a run of 60 passes may have left. What follows the last
/// line end stays behind: a kill may have cut it short.
fn shortened(place: &Place) {
    let text = place.read("x.json.journal");
    let whole: String = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).take(1000).collect();
    place.file("x.json.journal", whole);
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
    let journal = place.read("x.json.journal");
    let whole = &journal[..=journal.rfind('\n').unwrap()];
    assert!(whole.lines().count() >= 300);
    for line in whole.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
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
    for resume in [&[][..], &["--resume"]] {
        let second = place.run(&[&MACHINE[..], &["x.json"], resume].concat());
        assert!(String::from_utf8_lossy(&second.stderr).contains("another measurement is under way"), "{second:?}");
        assert_eq!(second.status.code(), Some(1), "work, not input");
    }
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

#[test]
fn figures_that_nobody_can_have_measured_are_not_gone_on_with() {
    let place = Place::new();
    signalled(started(&place), libc::SIGINT);
    let journal = place.read("x.json.journal");
    let header = journal.lines().next().unwrap();
    for (ns, discarded) in [("-1e30", "0"), ("1e300", "0"), ("null", "0"), ("50", "18446744073709551615")] {
        let record = format!("{{\"pass\":0,\"i\":0,\"j\":1,\"ns\":[{ns}],\"discarded\":[{discarded},1,1]}}");
        place.file("x.json.journal", format!("{header}\n{record}\n"));
        let line = place.one_line_refusal(&[&MACHINE[..], &["x.json", "--resume"]].concat());
        assert!(line.contains("x.json.journal:2: ") && line.contains("delete it"), "{line}");
        assert!(!place.path("x.json").exists());
    }
}

#[test]
fn the_homes_can_be_interrupted_too() {
    let place = Place::new();
    let homes = ["measure", "--on", "graviton3", "--homes", "65536", "--passes", "1", "-o", "x.json"];
    let mut command = place.command(&homes);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The header stands there before the first visit, and 65536 lines take far longer than this.
    (0..MOST_LOOKS).take_while(|_| lines(&place) == 0).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
    let output = signalled(child, libc::SIGTERM);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--resume"), "{output:?}");
    assert_eq!(files(&place), ["x.json.journal"]);
}
