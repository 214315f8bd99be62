//! Figures 4, 5 and 7: the gain of the cell's style by size of the work, and the kernel's part in
//! both.

use crate::cellule::libspe2::calls::spread;
use crate::cellule::libspe2::programs::{CompiledPrograms, PpeProgram, ProgramLines};
use crate::cellule::libspe2::style::ByStyle;
use crate::cellule::spread::SampleSummary;
use crate::cellule::{CelluleError, WorkerSeats};
use seatmap_data::statistics::words::counted;
use serde::Serialize;

/// Sizes of figure 4; a run of the paper's largest, 2048, takes seconds and gains nothing.
const SIZES: [u32; 4] = [128, 256, 512, 1024];
const ITERATIONS: [u32; 3] = [1, 4, 16];
const LARGEST_REPEATED: u32 = 512;
const CYCLES: [u32; 6] = [1, 2, 4, 8, 16, 32];
const BLOCKS: u32 = 2;
/// Runs of a turn: for the smallest work, and at least.
const MOST_RUNS: u32 = 50;
const LEAST_RUNS: u32 = 3;

/// A figure of the paper, with our curves.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Curves {
    /// The title.
    pub title: &'static str,
    /// The quantity on the horizontal axis.
    pub across: &'static str,
    /// The curves.
    pub series: Vec<GainCurve>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GainCurve {
    /// Its name.
    pub name: String,
    /// Its points.
    pub points: Vec<StyleGain>,
}

/// A program of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StyleGain {
    /// The size, or the number of repetitions.
    pub at: u32,
    /// (Linux - cell) / Linux of the medians, in per cent.
    pub gain_percent: f64,
    /// The time of a run.
    pub time: ByStyle<SampleSummary>,
    /// The kernel's part of the process's CPU time, in per cent; null if it used no tick.
    pub kernel_percent: ByStyle<Option<f64>>,
}

impl Curves {
    /// Its curves as names and points.
    pub fn curves(&self) -> Vec<(String, Vec<(f64, f64)>)> {
        self.series
            .iter()
            .map(|curve| {
                (
                    curve.name.clone(),
                    curve
                        .points
                        .iter()
                        .map(|point| (f64::from(point.at), point.gain_percent))
                        .collect(),
                )
            })
            .collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planned {
    at: u32,
    program: PpeProgram,
    size: u32,
    spes: u32,
    times: u32,
}

impl Planned {
    fn runs(&self) -> u32 {
        let unit = match self.program {
            // The work of a product grows with the cube of its rows.
            PpeProgram::Matrix => u64::from(self.size / SIZES[0]).pow(3),
            _ => 1,
        };
        let work = unit.max(1) * u64::from(self.times);
        u32::try_from(u64::from(MOST_RUNS) / work).unwrap_or(LEAST_RUNS).max(LEAST_RUNS)
    }
}

type Plan = (&'static str, &'static str, Vec<(String, Vec<Planned>)>);

fn plan(spes: u32) -> [Plan; 3] {
    let size = BLOCKS * spes;
    let prices = (
        counted(spes, "SPE"),
        CYCLES
            .map(|times| Planned {
                at: times,
                program: PpeProgram::BlackScholes,
                size,
                spes,
                times,
            })
            .to_vec(),
    );
    let all_spes = (1..=spes)
        .map(|spes| (counted(spes, "SPE"), SIZES.map(|size| matrix(size, spes, 1)).to_vec()))
        .collect();
    [
        ("matrix multiplication, one iteration (figure 4 a)", "rows and columns", all_spes),
        (
            "matrix multiplication, all SPEs (figure 4 b)",
            "rows and columns",
            ITERATIONS
                .map(|times| {
                    let sizes =
                        SIZES.iter().filter(|size| times == 1 || **size <= LARGEST_REPEATED);
                    (
                        counted(times, "iteration"),
                        sizes.map(|size| matrix(*size, spes, times)).collect(),
                    )
                })
                .to_vec(),
        ),
        ("Black-Scholes, two blocks an SPE (figure 5)", "cycles", vec![prices]),
    ]
}

fn matrix(size: u32, spes: u32, times: u32) -> Planned {
    Planned { at: size, program: PpeProgram::Matrix, size, spes, times }
}

/// Measures the figures; `step` receives the number of finished points and of all points.
///
/// # Errors
/// The errors of [`CompiledPrograms::run`].
pub fn figures(
    programs: &CompiledPrograms,
    seats: &WorkerSeats,
    turns: u32,
    mut step: impl FnMut(usize, usize),
) -> Result<Vec<Curves>, CelluleError> {
    let plan = plan(seats.workers.len() as u32);
    let all = plan.iter().flat_map(|figure| &figure.2).map(|curve| curve.1.len()).sum();
    let mut done = 0;
    let mut figures = Vec::new();
    for (title, across, curves) in plan {
        let mut series = Vec::new();
        for (name, planned) in curves {
            let mut points = Vec::new();
            for planned in planned {
                step(done, all);
                done += 1;
                points.push(point(programs, seats, turns, planned)?);
            }
            series.push(GainCurve { name, points });
        }
        figures.push(Curves { title, across, series });
    }
    Ok(figures)
}

fn point(
    programs: &CompiledPrograms,
    seats: &WorkerSeats,
    turns: u32,
    planned: Planned,
) -> Result<StyleGain, CelluleError> {
    let Planned { at, program, size, spes, times } = planned;
    let numbers = [size, spes, times, planned.runs()];
    let said = ByStyle::by_turns(turns, |style, all: &mut Vec<ProgramLines>| {
        all.push(programs.run(program, &numbers, style, &seats.workers)?);
        Ok::<_, CelluleError>(())
    })?;
    let time = said.try_map(|turns| spread(turns, "run"))?;
    let gain_percent = (time.linux.median_ns - time.cell.median_ns) / time.linux.median_ns * 100.0;
    let kernel_percent = said.try_map(|turns| Ok::<_, CelluleError>(kernel(turns)))?;
    Ok(StyleGain { at, gain_percent, time, kernel_percent })
}

fn kernel(turns: &[ProgramLines]) -> Option<f64> {
    let user = turns.iter().map(|said| said.sum("user_us")).sum::<f64>();
    let kernel = turns.iter().map(|said| said.sum("kernel_us")).sum::<f64>();
    (user + kernel > 0.0).then(|| 100.0 * kernel / (user + kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_has_papers_axes_and_fewer_large_runs() {
        let [a, b, prices] = plan(2);
        assert_eq!(
            a.2.iter().map(|curve| (&*curve.0, curve.1.len())).collect::<Vec<_>>(),
            [("1 SPE", 4), ("2 SPEs", 4)]
        );
        assert_eq!(b.2.iter().map(|curve| curve.1.len()).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!((prices.2[0].1.len(), prices.2[0].1[0].size), (6, 4));
        let runs: Vec<u32> = a.2[0].1.iter().map(Planned::runs).collect();
        assert_eq!(runs, [50, 6, 3, 3]);
    }
}
