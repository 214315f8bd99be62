//! The recorded trace of a pair of vCPUs that flips between two levels.

use crate::row::Row;
use seatmap_measure::regimes::judge;
use std::error::Error;

/// The slow share that was counted by hand, and how far off is near enough, in percent.
const SLOW_PERCENT: f64 = 26.0;
const NEAR_ENOUGH: f64 = 5.0;

/// Regimes and the share of the slow one.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(path) = seatmap_needs::published("vm-regime-trace.txt") else { return Ok(Vec::new()) };
    let medians: Vec<f64> =
        std::fs::read_to_string(path)?.lines().filter_map(|line| field(line, "med")).collect();
    let verdict = judge(&[medians]);
    let got: Vec<String> = verdict
        .regimes
        .iter()
        .map(|regime| format!("{:.0} ns {:.0} %", regime.median_ns, 100.0 * regime.share))
        .collect();
    let slow = verdict.regimes.last().map_or(f64::NAN, |regime| 100.0 * regime.share);
    let right = verdict.regimes.len() == 2 && (slow - SLOW_PERCENT).abs() <= NEAR_ENOUGH;
    let target = format!("2 regimes, slow {SLOW_PERCENT} % +- {NEAR_ENOUGH}");
    Ok(vec![Row::held(
        "recorded vCPU trace",
        format!("{} ({})", got.join(", "), verdict.status.word()),
        target,
        right,
    )])
}

/// The number behind a word on a line of the trace.
fn field(line: &str, name: &str) -> Option<f64> {
    let mut words = line.split_whitespace();
    // "27651.303 min 272.6 ... med 317.9 p90 335.3 ...": a number follows its name.
    words.find(|word| *word == name)?;
    words.next()?.parse().ok()
}
