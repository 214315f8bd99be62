//! Reports of synthetic readings.

use super::*;
use crate::tune::Fingerprint;
use seatmap_data::statistics::{normal, signed_rank};

fn header() -> GateHeader {
    GateHeader {
        begun: "2026-11-26T22:00:00Z".to_owned(),
        complete: true,
        label: Some("abc".to_owned()),
        fingerprint: Fingerprint { machine: "box".to_owned(), ..Fingerprint::default() },
        confidence: 0.95,
        seed: 1,
        seats: SeatsUsed { cpus: "0".to_owned(), ..SeatsUsed::default() },
        throttled: None,
    }
}

fn row(name: &str, ratio: f64, noise: f64, seed: u64) -> BenchmarkReadings {
    let commands = vec![BenchCommand::default(); 2];
    let better = Some(Better::Lower);
    let results =
        BenchResults { better, confidence: 0.95, seed: 1, commands, ..BenchResults::default() };
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut row =
        BenchmarkReadings { name: name.to_owned(), fail_above_percent: Some(3.0), results };
    for block in 0..20 {
        for (command, again) in [(0, true), (1, false), (0, false)] {
            let level = if command == 0 { ratio } else { 1.0 };
            let value = level * (noise * normal(&mut chance)).exp();
            row.results.runs.push(BlockRun { again, ..BlockRun::new(block, command, value) });
        }
    }
    row
}

fn judged(rows: Vec<BenchmarkReadings>) -> GateReport {
    GateReport::judged(header(), rows)
}

#[test]
fn a_slower_head_fails_and_is_named() {
    // Noise of 1 % is too much: consecutive readings happen to be alike, which widens the interval
    // 12 times.
    let report = judged(vec![row("same", 1.0, 0.01, 1), row("slow", 1.10, 0.002, 2)]);
    let error = report.check(false).unwrap_err().to_string();
    assert!(error.starts_with("'slow' is at least") && !error.contains("; "), "{error}");
    assert!(report.verdict().starts_with("Failed: 'slow'"), "{}", report.verdict());
    assert_eq!(report.benchmarks[0].outcome, Some(LimitOutcome::Within));
}

#[test]
fn equal_sides_pass_strict_check() {
    let report = judged(vec![row("a", 1.0, 0.005, 1), row("b", 0.9, 0.005, 2)]);
    assert!(report.check(true).is_ok());
    assert_eq!(report.verdict(), "Passed: 2 benchmarks are within the limit, 1 better than base");
}

#[test]
fn noisy_session_is_undecided_and_names_detectable_slowdown() {
    let report = judged(vec![row("loud", 1.0, 0.3, 1)]);
    assert!(report.check(false).is_ok());
    let error = report.check(true).unwrap_err().to_string();
    assert!(error.contains("cannot tell whether 'loud' is more than 3 % worse"), "{error}");
    assert!(error.contains("only a slowdown above"), "{error}");
    assert!(report.verdict().starts_with("Undecided for 1 of 1 benchmark"));
}

#[test]
fn one_sided_benchmark_is_reported_as_unpaired() {
    let mut alone = row("gone", 1.0, 0.01, 3);
    alone.results.runs.retain(|run| run.command == 1);
    let report = judged(vec![row("a", 1.0, 0.005, 1), alone.clone()]);
    assert_eq!(report.unpaired, [Unpaired { name: "gone".to_owned(), only: ProgramVersion::Base }]);
    assert!(report.check(false).is_ok());
    assert!(report.check(true).unwrap_err().to_string().contains("only base has 'gone'"));
    let nothing = judged(vec![alone]).check(false).unwrap_err().to_string();
    assert!(nothing.starts_with("nothing was compared"), "{nothing}");
}

#[test]
fn many_equal_benchmarks_rarely_fail() {
    let failed = (0..15)
        .filter(|session| {
            let rows = (0..20).map(|at| row("x", 1.03, 0.02, 1000 * session + at)).collect();
            judged(rows).check(false).is_err()
        })
        .count();
    // All are exactly at the limit. 5 % of 15 are 0.75; three standard deviations above are 3.
    assert!(failed <= 3, "{failed} of 15");
}

#[test]
fn gate_report_matches_schema() {
    let schema = include_str!("../../../../../../docs/formats/seatmap-gate-1.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    let mut alone = row("gone", 1.0, 0.01, 3);
    alone.results.runs.retain(|run| run.command == 1);
    let report = judged(vec![row("a", 1.1, 0.01, 1), alone]);
    let document = serde_json::to_value(&report).unwrap();
    assert_eq!(seatmap_data::document::schema::refused(&schema, &document), [""; 0]);
}

/// At 5 %, only the p-value 0.01 is shown: 0.02 is above 0.05 / 3.
#[test]
fn confidence_levels_step_down_by_p_value() {
    let shown = |p_values: &[f64]| {
        let is_shown = |at: usize, confidence: f64| p_values[at] <= 1.0 - confidence + 1e-12;
        let judged_at = confidences(p_values.len(), 0.95, &is_shown);
        (0..p_values.len()).filter(|at| is_shown(*at, judged_at[*at])).collect::<Vec<_>>()
    };
    assert_eq!(shown(&[0.01, 0.02, 0.02, 0.4]), [0]);
    assert_eq!(shown(&[0.4, 0.02, 0.016, 0.01]), [1, 2, 3]);
    assert_eq!(shown(&[0.04]), [0]);
    assert_eq!(shown(&[]), [0; 0]);
}

#[test]
fn many_equal_benchmarks_rarely_show_difference() {
    let mut chance = fastrand::Rng::with_seed(5);
    let sessions = 300;
    let [mut together, mut alone] = [0, 0];
    for _ in 0..sessions {
        let series: Vec<Vec<f64>> =
            (0..20).map(|_| (0..15).map(|_| normal(&mut chance)).collect()).collect();
        let is_shown = |at: usize, confidence: f64| {
            let shift = signed_rank::shift(&series[at], confidence);
            shift.is_some_and(|shift| shift.low > 0.0 || shift.high < 0.0)
        };
        let judged_at = confidences(20, 0.95, &is_shown);
        together += usize::from((0..20).any(|at| is_shown(at, judged_at[at])));
        alone += usize::from((0..20).any(|at| is_shown(at, 0.95)));
    }
    // 5 % of 300 are 15; three standard deviations above are 26.
    assert!(together <= 26, "{together} of {sessions}");
    assert!(alone > sessions / 3, "{alone}: one by one many are claimed");
}
