//! Comparisons of commands that print fixed figures, from request to result.

use super::*;
use seatmap_data::document::Blame;
use std::cell::Cell;
use std::time::Duration;

fn request(scripts: &[&str], blocks: usize) -> BenchRequest {
    let commands = scripts
        .iter()
        .map(|script| Contestant { name: (*script).to_owned(), ..Contestant::shell(script) });
    BenchRequest {
        commands: commands.collect(),
        metric: Metric::parse("regex:rate ([0-9.]+)").unwrap(),
        better: Some(Better::Lower),
        confidence: 0.95,
        seed: 1,
        length: Length::new(0, Some(blocks), None, 0.95),
        baseline: None,
        room: RoomRequest {
            cpus: Some(CpuSet::of_thread(0).unwrap()),
            words: None,
            seats: None,
            is_quiet: false,
            cells: OwnCells { guardian: GuardianCommand(Vec::new()), in_cell: |_| Vec::new() },
        },
        kept: None,
        machine: "box".to_owned(),
        now: || "2026-11-25T20:00:00Z".to_owned(),
    }
}

fn made(request: &BenchRequest) -> (BenchResults, Result<(), SessionEnd>) {
    let _turn = crate::alone();
    run(request, &|| false, &mut |_| {}).unwrap()
}

#[test]
fn comparison_reports_every_run_and_checks_limit() {
    let _turn = crate::alone();
    let mut request = request(&["echo rate 110", "echo rate 100"], 6);
    request.length.warm_ups = 1;
    let mut told = Vec::new();
    let (results, end) = run(&request, &|| false, &mut |event| {
        if let BenchEvent::RunMade { runs, of } = event {
            told.push((runs, of));
        }
    })
    .unwrap();
    assert!(end.is_ok() && results.complete);
    // Neighbours that start during this test cause repeated blocks.
    let runs = results.runs.len();
    assert!((18..=36).contains(&runs) && runs.is_multiple_of(3), "{results:?}");
    assert!(results.blocks().len() >= 6, "{results:?}");
    assert_eq!((told.len(), told[0].1), (runs + 2, 20));
    assert_eq!(told.last(), Some(&(runs + 2, runs + 2)));
    assert_eq!((&*results.begun, &*results.fingerprint.quiet), ("2026-11-25T20:00:00Z", "nobody"));
    assert!((results.comparisons[0].ratio - 1.1).abs() < 1e-12);
    let worse = results.check_limit(3.0).unwrap_err().to_string();
    assert_eq!(worse, "'echo rate 110' is at least 10.0 % worse than 'echo rate 100' (limit: 3 %)");
    assert!(results.check_limit(11.0).is_ok());
}

#[test]
fn too_few_runs_fail_no_limit() {
    let mut request = request(&["echo rate 110", "echo rate 100"], 3);
    request.confidence = 0.99;
    assert!(made(&request).0.check_limit(3.0).is_ok(), "six blocks have no interval at 99 %");
}

#[test]
fn failed_run_keeps_completed_blocks_on_file() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "echo x >> {0}/n; test $(wc -l < {0}/n) -lt 6 || exit 3; echo rate 1",
        folder.path().display()
    );
    let mut request = request(&[&script], 6);
    request.length.warm_ups = 1;
    request.kept = Some(folder.path().join("kept.json"));
    let (results, end) = made(&request);
    let error = end.unwrap_err().to_string();
    assert!(error.contains("exit code 3"), "{error}");
    assert_eq!((results.complete, results.runs.len()), (false, 4));
    let kept = std::fs::read_to_string(request.kept.unwrap()).unwrap();
    let kept = BenchResults::from_json(&kept).unwrap();
    assert!(kept.runs.len().is_multiple_of(2) && !kept.runs.is_empty(), "whole blocks");
}

#[test]
fn stopped_session_keeps_earlier_runs() {
    let _turn = crate::alone();
    let done = Cell::new(0);
    let request = request(&["echo rate 1; sleep 0.06"], 6);
    let (results, end) = run(&request, &|| done.get() >= 5, &mut |event| {
        if let BenchEvent::RunMade { runs, .. } = event {
            done.set(runs);
        }
    })
    .unwrap();
    assert_eq!(end.unwrap_err().to_string(), "interrupted after 2 whole blocks");
    assert_eq!((results.complete, results.runs.len(), done.get()), (false, 5, 5));
}

#[test]
fn time_limit_respects_block_bounds() {
    let _turn = crate::alone();
    for (seconds, blocks) in [(0, 2..=4), (1000, 4..=4)] {
        let mut request = request(&["echo rate 1"], 2);
        let time = Duration::from_secs(seconds);
        request.length = Length { most_blocks: 4, time, limit: Some(time), ..request.length };
        let mut is_late = false;
        let hear = &mut |event: BenchEvent<'_>| is_late |= matches!(event, BenchEvent::TooLong(_));
        let (results, _) = run(&request, &|| false, hear).unwrap();
        assert!(blocks.contains(&results.blocks().len()), "{results:?}");
        assert_eq!(is_late, time.is_zero());
    }
}

#[test]
fn baseline_limit_applies_only_on_same_computer() {
    let then = made(&request(&["echo rate 100"], 6)).0;
    let mut later = request(&["echo rate 110"], 6);
    later.baseline = Some(then.clone());
    let now = made(&later).0;
    let worse = now.check_limit(3.0).unwrap_err().to_string();
    assert!(worse.contains("at least 10.0 % worse than 'echo rate 100'"), "{worse}");
    later.baseline.as_mut().unwrap().fingerprint.kernel = Some("another".to_owned());
    let apart = made(&later).0;
    assert!(apart.check_limit(3.0).is_ok(), "nothing is shown by results of two computers");
}

#[test]
fn too_many_seats_are_rejected() {
    let mut request = request(&["true"], 1);
    request.room.cpus = None;
    request.room.seats = Some(4000);
    let refused = run(&request, &|| false, &mut |_| {}).unwrap_err();
    assert!(refused.is_input() && refused.to_string().starts_with("4000 seats"), "{refused}");
}

#[test]
fn limit_requires_direction_and_comparison() {
    let two = request(&["true", "true"], 1);
    assert_eq!(two.limit_problem(), None);
    let unknown = BenchRequest { better: None, ..two };
    assert!(unknown.limit_problem().unwrap().contains("which readings are worse"));
    assert!(request(&["true"], 1).limit_problem().unwrap().contains("nothing to compare"));
    let earlier = Some(crate::tune::document::tests::made(6));
    let compared = BenchRequest { baseline: earlier, ..request(&["true"], 1) };
    assert_eq!(compared.limit_problem(), None);
}

#[test]
fn baseline_requires_same_metric() {
    let text = crate::tune::document::tests::made(6).to_json();
    let time = Metric::parse("time").unwrap();
    let other = Metric::parse("regex:([0-9]+)").unwrap();
    assert_eq!(BenchResults::baseline(&text, &time).unwrap().metric, "time");
    let refused = BenchResults::baseline(&text, &other).unwrap_err().to_string();
    assert!(refused.starts_with("its metric is 'time', but this one is"), "{refused}");
}

#[test]
fn unnamed_commands_are_named_by_their_words() {
    let words: [OsString; 2] = ["sleep", "1"].map(Into::into);
    assert_eq!(named(None, &words).unwrap().name, "sleep 1");
    let same = vec![named(None, &words).unwrap(); 3];
    let names: Vec<String> = told_apart(same).into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["sleep 1", "sleep 1 (2)", "sleep 1 (3)"]);
    assert_eq!(named(Some("nap"), &words).unwrap().name, "nap");
}
