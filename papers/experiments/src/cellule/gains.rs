//! The runtime's gain by size of the work: figures 4 and 5.

use crate::cellule::compare::RuntimeGain;
use crate::cellule::{CelluleError, CelluleWorkload, WorkerSeats, compare};
use serde::Serialize;

const SIZES: [u32; 5] = [128, 256, 512, 1024, 2048];
const ITERATIONS: [u32; 3] = [1, 4, 16];
/// The largest size with several runs; a larger one takes seconds and shows nothing new.
const LARGEST_REPEATED: u32 = 512;
const CYCLES: [u32; 6] = [1, 2, 4, 8, 16, 32];
const BLOCKS: u32 = 2;

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GainFigure {
    /// The title.
    pub title: &'static str,
    /// The quantity on the horizontal axis.
    pub across: &'static str,
    /// Its curves.
    pub series: Vec<GainSeries>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GainSeries {
    /// The name of the curve.
    pub name: String,
    /// Its points.
    pub points: Vec<SizeGain>,
}

/// The gain at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeGain {
    /// The size, or the number of repetitions.
    pub at: u32,
    /// The gain, in per cent of the time by threads.
    pub gain_percent: RuntimeGain,
    /// The median time by the runtime.
    pub runtime_ns: f64,
}

impl GainFigure {
    /// Its curves as names and points: the gain over a thread per worker, or over a thread per
    /// task.
    pub fn curves(&self, is_per_worker: bool) -> Vec<(String, Vec<(f64, f64)>)> {
        self.series
            .iter()
            .map(|series| {
                (
                    series.name.clone(),
                    series
                        .points
                        .iter()
                        .map(|point| {
                            (
                                f64::from(point.at),
                                if is_per_worker {
                                    point.gain_percent.thread_per_worker
                                } else {
                                    point.gain_percent.thread_per_task
                                },
                            )
                        })
                        .collect(),
                )
            })
            .collect()
    }
}

/// The figures, on up to this many workers; `step` receives the number of finished points and of
/// all points.
///
/// # Errors
/// As [`compare()`].
pub fn gains(
    cpus: &[u32],
    workers: usize,
    turns: u32,
    mut step: impl FnMut(usize, usize),
) -> Result<Vec<GainFigure>, CelluleError> {
    let plan = plan(workers as u32);
    let all = plan.iter().flat_map(|figure| &figure.2).map(|series| series.2.len()).sum();
    let mut done = 0;
    let mut figures = Vec::new();
    for (title, across, curves) in plan {
        let mut series = Vec::new();
        for (name, workers, workloads) in curves {
            let seats = WorkerSeats::new(cpus, workers)?;
            let mut points = Vec::new();
            for (at, workload) in workloads {
                step(done, all);
                done += 1;
                let found = compare(workload, &seats, turns)?;
                points.push(SizeGain {
                    at,
                    gain_percent: found.gain_percent,
                    runtime_ns: found.runtime.median_ns,
                });
            }
            series.push(GainSeries { name, points });
        }
        figures.push(GainFigure { title, across, series });
    }
    Ok(figures)
}

type Curve = (String, usize, Vec<(u32, CelluleWorkload)>);

fn plan(workers: u32) -> [(&'static str, &'static str, Vec<Curve>); 3] {
    let prices = (
        named(workers, "worker"),
        workers as usize,
        CYCLES
            .map(|cycles| {
                (cycles, CelluleWorkload::BlackScholes { blocks: BLOCKS * workers, cycles })
            })
            .to_vec(),
    );
    [
        (
            "matrix multiplication, one iteration (figure 4 a)",
            "rows and columns",
            (1..=workers)
                .map(|count| {
                    (
                        named(count, "worker"),
                        count as usize,
                        SIZES.map(|size| matrix(size, 1)).to_vec(),
                    )
                })
                .collect(),
        ),
        (
            "matrix multiplication, all workers (figure 4 b)",
            "rows and columns",
            ITERATIONS
                .map(|count| {
                    let sizes =
                        SIZES.iter().filter(|size| count == 1 || **size <= LARGEST_REPEATED);
                    (
                        named(count, "iteration"),
                        workers as usize,
                        sizes.map(|size| matrix(*size, count)).collect(),
                    )
                })
                .to_vec(),
        ),
        ("Black-Scholes, two blocks a worker (figure 5)", "cycles", vec![prices]),
    ]
}

fn matrix(size: u32, iterations: u32) -> (u32, CelluleWorkload) {
    (size, CelluleWorkload::Matrix { size, iterations })
}

fn named(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_has_the_papers_axes() {
        let [a, b, prices] = plan(2);
        assert_eq!(
            a.2.iter().map(|curve| (curve.1, curve.2.len())).collect::<Vec<_>>(),
            [(1, 5), (2, 5)]
        );
        assert_eq!(
            b.2.iter().map(|curve| (&*curve.0, curve.2.len())).collect::<Vec<_>>(),
            [("1 iteration", 5), ("4 iterations", 3), ("16 iterations", 3)]
        );
        assert_eq!(prices.2[0].2[5].1.to_string(), "black-scholes:4:32");
    }
}
