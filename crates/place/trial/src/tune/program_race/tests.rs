//! Races of programs that print fixed figures, so that speed does not matter.

use super::*;
use crate::tune::metric::{Better, Metric};
use crate::tune::race::DEFAULT;
use crate::tune::winner::Provenance;
use seatmap_data::document::Blame;
use seatmap_os::CpuSet;
use seatmap_os::guardian::GuardianCommand;
use std::path::Path;

/// Prints 9 if it may run on only one CPU, else 10.
const BEST_ALONE: &str =
    "grep -q 'Cpus_allowed_list:.[0-9]*$' /proc/self/status && echo took 9 || echo took 10";

const BEST_FREE: &str =
    "grep -q 'Cpus_allowed_list:.[0-9]*$' /proc/self/status && echo took 10 || echo took 9";

fn in_turn() -> Option<(std::sync::MutexGuard<'static, ()>, tempfile::TempDir)> {
    let has_two = CpuSet::of_thread(0).unwrap().len() > 1;
    has_two.then(|| (crate::alone(), tempfile::tempdir().unwrap()))
}

/// Runs a program on the first of the CPUs, in place of `run --cpus LIST --`.
fn on_seats(options: &[&str]) -> Vec<std::ffi::OsString> {
    assert_eq!(options[0], "--cpus");
    let first = options[1].split([',', '-']).next().unwrap();
    ["taskset", "-c", first].map(Into::into).to_vec()
}

fn request(script: &str, folder: &Path) -> RaceRequest {
    RaceRequest {
        command: ["sh", "-c", script].map(Into::into).to_vec(),
        ground: RaceGround::Host(HostGround::default()),
        metric: Metric::parse("regex:took ([0-9]+)").unwrap(),
        better: Better::Lower,
        second: None,
        confidence: 0.95,
        seed: 1,
        candidates: 12,
        runs: Some(70),
        time: None,
        record: folder.join("record.json"),
        earlier: None,
        provenance: Provenance {
            machine: "box".to_owned(),
            pattern: None,
            date: "2026-11-25".to_owned(),
            tool: "seatmap 0.1.0".to_owned(),
        },
        now: || "2026-11-25T20:00:00Z".to_owned(),
        own: OwnCommands {
            on_seats,
            switch_guardian: || GuardianCommand(vec!["true".into()]),
            rank_on_seats: |_, _| Vec::new(),
            rank_observed: |_, _| Vec::new(),
        },
    }
}

fn raced(request: &RaceRequest) -> Result<RaceEnd, Failure> {
    run(request, &|| false, &mut |_| {})
}

fn kept(request: &RaceRequest) -> Tuned {
    Tuned::from_json(&std::fs::read_to_string(&request.record).unwrap()).unwrap()
}

#[test]
fn race_finds_better_seats_and_records_all_runs() {
    let Some((_turn, folder)) = in_turn() else { return seatmap_needs::skipped!("one CPU") };
    let request = request(BEST_ALONE, folder.path());
    let end = raced(&request).unwrap();
    let verdict = end.tuned.verdict.as_ref().unwrap();
    assert!(verdict.safe && verdict.winner != DEFAULT, "{verdict:?}");
    assert!((verdict.confirmed[0].percent + 10.0).abs() < 1e-9, "{verdict:?}");
    assert!(end.tuned.runs.len() <= 70);
    assert_eq!(kept(&request), end.tuned);
    let plan = end.plan.unwrap();
    assert!(plan.contains("raced: "), "{plan}");
}

/// Prints 10 for four threads, more for other numbers, and 14 by default.
const BEST_WITH_FOUR: &str = "n=${THREADS:-8}; echo took $((n > 4 ? 6 + n : 22 - 3 * n))";

/// A race of one to eight threads.
fn counted_request(script: &str, folder: &Path) -> RaceRequest {
    RaceRequest {
        ground: RaceGround::Host(HostGround {
            counts: Some("THREADS=1..8".parse().unwrap()),
            ..HostGround::default()
        }),
        candidates: 2,
        runs: None,
        ..request(script, folder)
    }
}

#[test]
fn best_number_of_threads_races_against_default() {
    let Some((_turn, folder)) = in_turn() else { return seatmap_needs::skipped!("one CPU") };
    let request = counted_request(BEST_WITH_FOUR, folder.path());
    let mut said = None;
    let end = run(&request, &|| false, &mut |event| {
        if let RaceEvent::CountFound { setting, tried, .. } = event {
            said = Some((setting, tried));
        }
    });
    let tuned = end.unwrap().tuned;
    let counts = tuned.counts.as_ref().unwrap();
    assert_eq!((counts.best, said), (Some(4), Some(("THREADS=4".to_owned(), counts.tried()))));
    let verdict = tuned.verdict.as_ref().unwrap();
    assert_eq!((verdict.winner, tuned.candidates[1].count), (1, Some(4)), "{verdict:?}");
    assert!((verdict.confirmed[0].percent + 100.0 * (1.0 - 10.0 / 14.0)).abs() < 1e-9);
    assert_eq!(kept(&request), tuned);
}

#[test]
fn interrupted_search_for_a_number_is_continued() {
    let Some((_turn, folder)) = in_turn() else { return seatmap_needs::skipped!("one CPU") };
    let log = folder.path().join("log");
    let script = format!("echo >> {}; echo took 1$THREADS", log.display());
    let mut request = counted_request(&script, folder.path());
    let mut repeated = 0;
    for stop_after in [3, 20] {
        let runs = std::cell::Cell::new(0);
        let stopped = run(&request, &|| runs.get() == stop_after, &mut |event| match event {
            RaceEvent::RunMade { runs: made, .. } => runs.set(made),
            RaceEvent::Disturbed { .. } => repeated += 1,
            _ => {}
        });
        assert!(stopped.unwrap_err().to_string().contains("continue it with --resume"));
        let half = kept(&request);
        assert_eq!(half.runs_made(), stop_after);
        let made = std::fs::read_to_string(&log).unwrap().len();
        assert_eq!(made, stop_after + repeated, "no other run was made twice");
        request.earlier = Some(half);
    }
    let whole = raced(&request).unwrap().tuned;
    assert_eq!(whole.counts.unwrap().best, Some(1));
}

#[test]
fn setting_that_the_program_ignores_ends_the_race() {
    let Some((_turn, folder)) = in_turn() else { return seatmap_needs::skipped!("one CPU") };
    let ignored = raced(&counted_request("sleep 0.2; echo took 5", folder.path())).unwrap_err();
    assert!(ignored.is_input());
    let ignored = ignored.to_string();
    assert!(ignored.starts_with("THREADS=8 started "), "{ignored}");
    assert!(ignored.contains("and so did THREADS=1: the program does not read it"), "{ignored}");
    assert_eq!(kept(&counted_request("", folder.path())).runs_made(), 8, "the first level");
}

#[test]
fn race_keeps_default_over_worse_seats() {
    let Some((_turn, folder)) = in_turn() else { return seatmap_needs::skipped!("one CPU") };
    let end = raced(&request(BEST_FREE, folder.path())).unwrap();
    assert!(!end.tuned.verdict.unwrap().safe);
    assert!(end.plan.unwrap_err().to_string().ends_with("was better than the default"));
}

#[test]
fn failed_race_resumes_with_recorded_runs() {
    let Some((_turn, folder)) = in_turn() else { return seatmap_needs::skipped!("one CPU") };
    let script = format!(
        "cd {}; echo x >> n; test -e well || test $(wc -l < n) -lt 30 || exit 3; echo took 5",
        folder.path().display()
    );
    let mut request = request(&script, folder.path());
    request.runs = Some(60);
    request.candidates = 2;
    let mut told = None;
    let mut disturbed = 0;
    let failed = run(&request, &|| false, &mut |event| match event {
        RaceEvent::RunsKept { runs } => told = Some(runs),
        RaceEvent::Disturbed { .. } => disturbed += 1,
        _ => {}
    });
    let failed = failed.unwrap_err();
    assert!(!failed.is_input() && failed.to_string().contains("exit code 3"), "{failed}");
    let half = kept(&request);
    let kept = 29 - disturbed;
    assert_eq!((half.runs.len(), told, half.verdict.is_none()), (kept, Some(kept), true));
    std::fs::write(folder.path().join("well"), "").unwrap();
    request.earlier = Some(half);
    let end = run(&request, &|| false, &mut |event| {
        disturbed += usize::from(matches!(event, RaceEvent::Disturbed { .. }));
    });
    let whole = end.unwrap().tuned;
    let lines = std::fs::read_to_string(folder.path().join("n")).unwrap().lines().count();
    assert_eq!(
        lines,
        whole.runs.len() + 1 + disturbed,
        "the failed run and no other was made twice"
    );
    request.seed = 2;
    let other = raced(&request).unwrap_err();
    assert!(other.is_input() && other.to_string().contains("the seed: 2, not 1"), "{other}");
}

#[test]
fn impossible_race_is_rejected_before_first_run() {
    let Some((_turn, folder)) = in_turn() else { return seatmap_needs::skipped!("one CPU") };
    let made = folder.path().join("made");
    let mut request = request(&format!("touch {}", made.display()), folder.path());
    request.runs = Some(20);
    let few = raced(&request).unwrap_err();
    assert!(few.is_input() && few.to_string().contains("needs at least"), "{few}");
    let cpus = Some("1023".parse().unwrap());
    request.ground = RaceGround::Host(HostGround { cpus, ..HostGround::default() });
    let absent = raced(&request).unwrap_err();
    assert!(absent.is_input() && absent.to_string().contains("does not exist"), "{absent}");
    assert!(!made.exists());
}

#[test]
fn interrupted_race_reports_kept_runs() {
    let Some((_turn, folder)) = in_turn() else { return seatmap_needs::skipped!("one CPU") };
    let request = request("echo took 5", folder.path());
    let runs = std::cell::Cell::new(0);
    let stopped = run(&request, &|| runs.get() == 3, &mut |event| {
        if let RaceEvent::RunMade { runs: made, .. } = event {
            runs.set(made);
        }
    });
    assert_eq!(
        stopped.unwrap_err().to_string(),
        "the race was interrupted after 3 runs; continue it with --resume"
    );
    assert_eq!(kept(&request).runs.len(), 3);
}
