//! Table 1, figures 4 to 6, and figure 8, from one model.

use super::inputs::{AssumedCost, Inputs};
use super::program::{CallTicks, ProgramRun, Sign, SpeComputation};
use crate::cellule::CelluleError;
use crate::cellule::costs::{CALLS, TimedCall};
use crate::cellule::libspe2::gains::{Curves, GainCurve, StyleGain};
use crate::cellule::libspe2::style::{ByStyle, LibraryStyle};
use crate::cellule::spread::SampleSummary;
use rayon::prelude::*;
use seatmap_cell_sim::channels::Bed;
use seatmap_data::statistics::words::counted;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROUNDS: u32 = 12;
/// The most runs of a program of one size. They differ only in the timer's phase, which hardly
/// affects a long run.
const MOST_RUNS: u32 = 3;
const LONG_RUNS: u32 = 1;

const SIZES: [u32; 4] = [128, 256, 512, 1024];
const ITERATIONS: [u32; 3] = [1, 4, 16];
const LARGEST_REPEATED: u32 = 512;
const CYCLES: [u32; 6] = [1, 2, 4, 8, 16, 32];
const BLOCKS: u32 = 2;

/// The machine to simulate.
pub struct CelluleMachine<'a, F> {
    /// The PU of the PPE.
    pub ppe: u32,
    /// The PUs of the SPEs.
    pub spes: &'a [u32],
    /// Makes a testbed. Several run at once.
    pub bed: F,
}

/// Cellule and Linux on a model of the Cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedCellule {
    /// The seed of the phases of timers and partitions.
    pub seed: u64,
    /// The assumed costs.
    pub inputs: Vec<AssumedCost>,
    /// Table 1 and figure 6, by number of SPEs from 1 on.
    pub calls: Vec<SimulatedCalls>,
    /// Figures 4 and 5.
    pub figures: Vec<Curves>,
    /// Figure 8, by number of SPEs.
    pub perturbed: Vec<Perturbed>,
}

/// The calls of the microbenchmark with this many SPEs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedCalls {
    /// The number of SPEs.
    pub spes: usize,
    /// Each call, for all SPEs one after the other.
    pub times: BTreeMap<TimedCall, ByStyle<SampleSummary>>,
    /// The median relative to one SPE.
    pub growth: BTreeMap<TimedCall, ByStyle<f64>>,
}

/// The gain by size while another partition takes turns with Cellule's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Perturbed {
    /// The number of SPEs.
    pub spes: usize,
    /// The gains by size.
    pub points: Vec<PerturbedGain>,
    /// The least gain of any run at any size.
    pub least_percent: f64,
    /// The largest gain of any run at any size.
    pub most_percent: f64,
}

/// The gain over Linux alone at one size, for runs that begin at several points of the slice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PerturbedGain {
    /// Rows and columns.
    pub size: u32,
    /// The least gain in per cent.
    pub least_percent: f64,
    /// The median gain.
    pub median_percent: f64,
    /// The largest gain.
    pub most_percent: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Planned {
    at: u32,
    work: SpeComputation,
    times: u32,
    spes: usize,
}

impl Planned {
    fn runs(&self, turns: u32) -> u32 {
        match self.work {
            SpeComputation::Matrix(size) if size > LARGEST_REPEATED => LONG_RUNS,
            _ => turns.clamp(1, MOST_RUNS),
        }
    }
}

type Plan = (&'static str, &'static str, Vec<(String, Vec<Planned>)>);

/// Simulates the figures with up to all SPEs of the machine. `turns` is the number of runs of each
/// program, with different phases of timers and slices. The same seed gives the same figures.
/// `step` receives the number of finished points and of all points.
///
/// # Errors
/// [`CelluleError::Model`].
pub fn simulated<B, F>(
    machine: &CelluleMachine<F>,
    inputs: &Inputs,
    turns: u32,
    seed: u64,
    step: impl Fn(usize, usize) + Sync,
) -> Result<SimulatedCellule, CelluleError>
where
    B: Bed,
    F: Fn() -> B + Sync,
{
    let simulation = Simulation { machine, inputs, turns, seed };
    let counts: Vec<usize> = (1..=machine.spes.len()).collect();
    let plan = plan(machine.spes.len());
    let perturbed = if machine.spes.len() == 1 { vec![1] } else { vec![1, machine.spes.len()] };
    let all = plan.iter().flat_map(|figure| &figure.2).map(|curve| curve.1.len()).sum::<usize>()
        + counts.len()
        + perturbed.len() * SIZES.len();
    let progress = Progress { done: AtomicUsize::new(0), all, step: &step };
    let times = counts
        .par_iter()
        .map(|spes| progress.after(simulation.calls(*spes)))
        .collect::<Result<Vec<_>, _>>()?;
    let calls = growing(times);
    let mut figures = Vec::new();
    for (title, across, curves) in plan {
        let series = curves
            .into_iter()
            .map(|(name, planned)| {
                let points = planned.par_iter().map(|one| progress.after(simulation.point(*one)));
                Ok(GainCurve { name, points: points.collect::<Result<_, _>>()? })
            })
            .collect::<Result<_, CelluleError>>()?;
        figures.push(Curves { title, across, series });
    }
    let perturbed = perturbed
        .into_iter()
        .map(|spes| {
            let points =
                SIZES.par_iter().map(|size| progress.after(simulation.perturbed(*size, spes)));
            Ok(Perturbed::of(spes, points.collect::<Result<_, _>>()?))
        })
        .collect::<Result<_, CelluleError>>()?;
    Ok(SimulatedCellule { seed, inputs: inputs.list(), calls, figures, perturbed })
}

struct Progress<'a, S> {
    done: AtomicUsize,
    all: usize,
    step: &'a S,
}

impl<S: Fn(usize, usize)> Progress<'_, S> {
    fn after<T>(&self, result: T) -> T {
        (self.step)(self.done.fetch_add(1, Ordering::Relaxed) + 1, self.all);
        result
    }
}

impl Perturbed {
    fn of(spes: usize, points: Vec<PerturbedGain>) -> Self {
        let least = points.iter().map(|point| point.least_percent).fold(f64::INFINITY, f64::min);
        let most = points.iter().map(|point| point.most_percent).fold(f64::NEG_INFINITY, f64::max);
        Perturbed { spes, points, least_percent: least, most_percent: most }
    }
}

fn growing(all: Vec<(usize, BTreeMap<TimedCall, ByStyle<SampleSummary>>)>) -> Vec<SimulatedCalls> {
    let one = all.first().map(|(_, times)| times.clone()).unwrap_or_default();
    all.into_iter()
        .map(|(spes, times)| {
            let growth = times
                .iter()
                .filter_map(|(call, both)| {
                    let one = one.get(call)?;
                    let cell = both.cell.median_ns / one.cell.median_ns;
                    Some((
                        *call,
                        ByStyle { cell, linux: both.linux.median_ns / one.linux.median_ns },
                    ))
                })
                .collect();
            SimulatedCalls { spes, times, growth }
        })
        .collect()
}

struct Simulation<'a, F> {
    machine: &'a CelluleMachine<'a, F>,
    inputs: &'a Inputs,
    turns: u32,
    seed: u64,
}

impl<B: Bed, F: Fn() -> B + Sync> Simulation<'_, F> {
    fn run(
        &self,
        planned: Planned,
        style: LibraryStyle,
        is_perturbed: bool,
        number: u32,
    ) -> Result<(CallTicks, f64), CelluleError> {
        let mut bed = (self.machine.bed)();
        // Both styles meet the same phases.
        let phases = u64::from(number) << 32 | planned.spes as u64;
        let phase = fastrand::Rng::with_seed(self.seed ^ phases).f64();
        let program = ProgramRun {
            style,
            work: planned.work,
            times: planned.times,
            spes: planned.spes,
            inputs: self.inputs.clone(),
            cycles_per_us: 1e3 / bed.ns_per_cycle(),
            phase,
            is_perturbed,
            signs: (0..planned.spes).map(|_| Sign::default()).collect(),
        };
        let mut seats = vec![self.machine.ppe];
        seats.extend(&self.machine.spes[..planned.spes]);
        // A seed of 0 would start all tasks at one cycle.
        let seed = (self.seed ^ phases).max(1);
        let reports = bed
            .run(&seats, &program, seed)
            .map_err(|error| CelluleError::Model(Box::new(error)))?;
        let ticks = reports.into_iter().flatten().next().unwrap_or_default();
        Ok((ticks, bed.ns_per_tick()))
    }

    fn calls(
        &self,
        spes: usize,
    ) -> Result<(usize, BTreeMap<TimedCall, ByStyle<SampleSummary>>), CelluleError> {
        let planned = Planned { at: spes as u32, work: SpeComputation::Addition, times: 1, spes };
        let mut samples = BTreeMap::<TimedCall, ByStyle<Vec<f64>>>::new();
        for style in [LibraryStyle::Cell, LibraryStyle::Linux] {
            for number in 0..self.turns.max(1) * ROUNDS {
                let (ticks, ns_per_tick) = self.run(planned, style, false, number)?;
                for (call, ticks) in ticks.calls {
                    samples.entry(call).or_default().of(style).push(ticks as f64 * ns_per_tick);
                }
            }
        }
        let mut times = BTreeMap::new();
        for (call, _, _) in CALLS {
            if let Some(ByStyle { cell, linux }) = samples.remove(&call) {
                times.insert(call, ByStyle { cell: spread(cell)?, linux: spread(linux)? });
            }
        }
        Ok((spes, times))
    }

    fn times(
        &self,
        planned: Planned,
        style: LibraryStyle,
        is_perturbed: bool,
        runs: u32,
    ) -> Result<(Vec<f64>, Option<f64>), CelluleError> {
        let mut times_ns = Vec::new();
        let mut kernel = None;
        for number in 0..runs {
            let (ticks, ns_per_tick) = self.run(planned, style, is_perturbed, number)?;
            times_ns.push(ticks.whole as f64 * ns_per_tick);
            kernel = ticks.kernel_share.map(|share| 100.0 * share);
        }
        Ok((times_ns, kernel))
    }

    fn point(&self, planned: Planned) -> Result<StyleGain, CelluleError> {
        let (cell, _) = self.times(planned, LibraryStyle::Cell, false, planned.runs(self.turns))?;
        let (linux, kernel) =
            self.times(planned, LibraryStyle::Linux, false, planned.runs(self.turns))?;
        let time = ByStyle { cell: spread(cell)?, linux: spread(linux)? };
        let gain_percent = gain(time.linux.median_ns, time.cell.median_ns);
        let kernel_percent = ByStyle { cell: None, linux: kernel };
        Ok(StyleGain { at: planned.at, gain_percent, time, kernel_percent })
    }

    fn perturbed(&self, size: u32, spes: usize) -> Result<PerturbedGain, CelluleError> {
        let planned = matrix(size, spes, 1);
        let (linux, _) =
            self.times(planned, LibraryStyle::Linux, false, planned.runs(self.turns))?;
        let linux = seatmap_data::statistics::median(&linux).unwrap_or(f64::NAN);
        let (cell, _) = self.times(planned, LibraryStyle::Cell, true, 1 + self.turns)?;
        let mut gains: Vec<f64> = cell.iter().map(|cell| gain(linux, *cell)).collect();
        gains.sort_unstable_by(f64::total_cmp);
        Ok(PerturbedGain {
            size,
            least_percent: gains.first().copied().unwrap_or(f64::NAN),
            median_percent: seatmap_data::statistics::median(&gains).unwrap_or(f64::NAN),
            most_percent: gains.last().copied().unwrap_or(f64::NAN),
        })
    }
}

fn spread(times_ns: Vec<f64>) -> Result<SampleSummary, CelluleError> {
    SampleSummary::of(&[times_ns]).ok_or(CelluleError::Workers { workers: 0, cpus: 0 })
}

fn gain(linux: f64, cell: f64) -> f64 {
    (linux - cell) / linux * 100.0
}

fn matrix(size: u32, spes: usize, times: u32) -> Planned {
    Planned { at: size, work: SpeComputation::Matrix(size), times, spes }
}

fn plan(spes: usize) -> [Plan; 3] {
    let blocks = SpeComputation::BlackScholes(BLOCKS * spes as u32);
    let prices = CYCLES.map(|times| Planned { at: times, work: blocks, times, spes }).to_vec();
    let by_spes = (1..=spes)
        .map(|spes| (counted(spes, "SPE"), SIZES.map(|size| matrix(size, spes, 1)).to_vec()))
        .collect();
    let by_iterations = ITERATIONS.map(|times| {
        let sizes = SIZES.iter().filter(|size| times == 1 || **size <= LARGEST_REPEATED);
        (counted(times, "iteration"), sizes.map(|size| matrix(*size, spes, times)).collect())
    });
    [
        ("matrix multiplication, one iteration (figure 4 a)", "rows and columns", by_spes),
        (
            "matrix multiplication, all SPEs (figure 4 b)",
            "rows and columns",
            by_iterations.to_vec(),
        ),
        (
            "Black-Scholes, two blocks an SPE (figure 5)",
            "cycles",
            vec![(counted(spes, "SPE"), prices)],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::inputs::CostKind;
    use super::*;
    use seatmap_cell_sim::{CellBed, CellModel};
    use std::sync::Arc;

    fn on_blade<T>(
        inputs: &Inputs,
        seed: u64,
        work: impl FnOnce(&dyn Fn(usize) -> Times, &dyn Fn(Planned, LibraryStyle, bool) -> f64) -> T,
    ) -> T {
        let text = include_str!("../../../../cell-sim/machines/cell-qs20.toml");
        let model = Arc::new(CellModel::from_toml("cell-qs20", text).unwrap());
        let spes: Vec<u32> = (0..8).collect();
        let bed = || CellBed::new(Arc::clone(&model));
        let machine = CelluleMachine { ppe: model.ppe(), spes: &spes, bed };
        let simulation = Simulation { machine: &machine, inputs, turns: 1, seed };
        work(&|count| simulation.calls(count).unwrap().1, &|planned, style, is_perturbed| {
            simulation.times(planned, style, is_perturbed, 1).unwrap().0[0]
        })
    }

    type Times = BTreeMap<TimedCall, ByStyle<SampleSummary>>;

    #[test]
    fn one_spe_reproduces_the_papers_table() {
        // In microseconds: Cellule and Linux.
        let table = [
            (TimedCall::CtxRun, 2.2, 1361.9),
            (TimedCall::ThrCreate, 3.6, 1433.5),
            (TimedCall::ThrJoin, 0.6, 323.9),
            (TimedCall::PgmLoad, 77.8, 104.2),
            (TimedCall::MapPS, 0.8, 1.1),
            (TimedCall::MBoxWr, 1.0, 57.1),
            (TimedCall::MBoxRd, 9.6, 1.5),
        ];
        let times = on_blade(&Inputs::default(), 1, |calls, _| calls(1));
        for (call, cell, linux) in table {
            let both = &times[&call];
            // A tick of the time base is 0.07 us.
            let is_near = |ns: f64, us: f64| (ns / 1e3 - us).abs() < 0.07 + 0.01 * us;
            assert!(is_near(both.cell.median_ns, cell), "{call:?}: {both:?}");
            assert!(is_near(both.linux.median_ns, linux), "{call:?}: {both:?}");
        }
    }

    #[test]
    fn returning_threads_delay_linux_mailbox_calls() {
        let [one, four] = on_blade(&Inputs::default(), 1, |calls, _| [1, 4].map(calls));
        let growth = |call, style| {
            let of = |times: &Times| *times[&call].clone().of(style);
            of(&four).median_ns / of(&one).median_ns
        };
        for call in [TimedCall::CtxRun, TimedCall::ThrCreate, TimedCall::MBoxWr, TimedCall::MBoxRd]
        {
            let cell = growth(call, LibraryStyle::Cell);
            assert!((3.8..4.2).contains(&cell), "{call:?} {cell}");
        }
        assert!(growth(TimedCall::MBoxWr, LibraryStyle::Linux) > 12.0);
        assert!(growth(TimedCall::MBoxRd, LibraryStyle::Linux) > 12.0);
        assert!((3.9..4.1).contains(&growth(TimedCall::PgmLoad, LibraryStyle::Linux)));
        assert!(growth(TimedCall::ThrJoin, LibraryStyle::Linux) < 1.0);
    }

    #[test]
    fn late_spe_stop_does_not_delay_reads() {
        let inputs = Inputs::default().with(CostKind::SpuEnd, 40.0);
        let [one, four] = on_blade(&inputs, 1, |calls, _| [1, 4].map(calls));
        let growth =
            four[&TimedCall::MBoxRd].linux.median_ns / one[&TimedCall::MBoxRd].linux.median_ns;
        assert!((3.8..4.2).contains(&growth), "{growth}");
    }

    #[test]
    fn same_seed_gives_same_figures() {
        let of = |seed| on_blade(&Inputs::default(), seed, |calls, _| calls(2));
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    #[test]
    fn other_partition_never_speeds_up_runs() {
        // Slices so short that every run meets several.
        let inputs = Inputs::default().with(CostKind::PartitionSlice, 20.0);
        let planned = matrix(128, 2, 1);
        let [alone, beside] = on_blade(&inputs, 1, |_, time| {
            [false, true].map(|is_perturbed| time(planned, LibraryStyle::Cell, is_perturbed))
        });
        assert!(beside > 1.3 * alone, "{alone} {beside}");
    }

    #[test]
    fn small_work_gains_more_than_large_work() {
        let gains = on_blade(&Inputs::default(), 1, |_, time| {
            [128, 512].map(|size| {
                let [linux, cell] = [LibraryStyle::Linux, LibraryStyle::Cell]
                    .map(|style| time(matrix(size, 1, 1), style, false));
                gain(linux, cell)
            })
        });
        assert!(gains[0] > 2.0 * gains[1] && gains[1] > 0.0, "{gains:?}");
    }

    #[test]
    fn plan_has_the_papers_axes() {
        let [a, b, prices] = plan(2);
        assert_eq!(
            a.2.iter().map(|curve| (&*curve.0, curve.1.len())).collect::<Vec<_>>(),
            [("1 SPE", 4), ("2 SPEs", 4)]
        );
        assert_eq!(b.2.iter().map(|curve| curve.1.len()).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!(prices.2[0].1[5].times, 32);
    }
}
