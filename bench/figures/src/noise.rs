//! Measures the noise meters: their resolution, their cost, and whether both find the same
//! disturbance.

use crate::hogs::among_hogs;
use crate::row::Row;
use crate::statistic::{median, quantile};
use seatmap_noise::{CpuNoise, NoiseOptions};
use seatmap_os::affinity;
use std::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;

/// Measurements of each kind, taking turns.
const TURNS: usize = 9;
/// One of them: many slices of the scheduler for each meter.
const LENGTH: Duration = Duration::from_millis(600);

/// The meter's own figures on the last CPU, and what both meters say of two hogs there.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(cpu) = affinity::current()?.last().copied() else { return Ok(Vec::new()) };
    let mut idle = Vec::new();
    let mut busy = Vec::new();
    for _ in 0..TURNS {
        idle.push(measured(cpu)?);
        busy.push(among_hogs(&[cpu], || measured(cpu))?);
    }
    // Two ways to measure one disturbance; the ratio is 1 if neither misses anything.
    let (ratio, low, high) =
        spread_of(&busy, |noise| noise.fwq_excess_percent / noise.stolen_percent);
    let agreement = format!("{ratio:.3} (by turns, middle half {low:.3}-{high:.3})");
    Ok(vec![
        noise_row("resolution", spread_of(&idle, |noise| noise.meter.resolution_ns), "ns"),
        noise_row("gaps from", spread_of(&idle, |noise| noise.meter.threshold_ns), "ns"),
        noise_row("writing down a gap", spread_of(&idle, |noise| noise.meter.record_ns), "ns"),
        noise_row(
            "time spent on writing",
            spread_of(&idle, |noise| noise.meter.overhead_percent),
            "%",
        ),
        noise_row("stolen while idle", spread_of(&idle, |noise| noise.stolen_percent), "%"),
        noise_row("stolen by two hogs", spread_of(&busy, |noise| noise.stolen_percent), "%"),
        Row::held(
            "stolen by two hogs, quanta / detour loop",
            agreement,
            "0.90-1.10",
            (0.9..=1.1).contains(&ratio),
        ),
    ])
}

fn spread_of(runs: &[CpuNoise], figure: fn(&CpuNoise) -> f64) -> (f64, f64, f64) {
    spread(&runs.iter().map(figure).collect::<Vec<_>>())
}

fn noise_row(what: &str, (middle, low, high): (f64, f64, f64), unit: &str) -> Row {
    Row::info(
        format!("noise meter: {what}"),
        format!("{middle:.2} {unit} (by turns, middle half {low:.2}-{high:.2})"),
    )
}

fn measured(cpu: u32) -> Result<CpuNoise, Box<dyn Error>> {
    let options = NoiseOptions { duration: LENGTH, ..NoiseOptions::default() };
    let mut report = seatmap_noise::measure(&[cpu], &options, &mut |_| ControlFlow::Continue(()))?;
    Ok(report.cpus.remove(0))
}

/// The median, and the bounds of the middle half.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    (median(values), quantile(values, 0.25), quantile(values, 0.75))
}
