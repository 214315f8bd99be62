//! Distances from one PU to all cores.

use super::{ChannelsError, Chip, FIRST_LINE, round_trips};
use fastrand::Rng;
use seatmap_data::port::Testbed;
use seatmap_data::statistics::correlation::spearman;
use seatmap_data::statistics::median;
use serde::Serialize;

/// The distances to measure.
#[derive(Clone, Copy, Debug)]
pub struct CurveOptions {
    /// The PU at one end.
    pub from: u32,
    /// The line, counted from [`FIRST_LINE`].
    pub line: u32,
    /// Pairs at once, including the measured one; the others are random, each with its own line.
    pub pairs: usize,
    /// Draws of the other pairs.
    pub runs: u32,
    /// Timed batches.
    pub batches: u32,
    /// The seed of the draws.
    pub seed: u64,
}

/// Distances from one PU over one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistanceCurve {
    /// The PU at one end.
    pub from: u32,
    /// The line.
    pub line: u32,
    /// Pairs at once.
    pub pairs: usize,
    /// The distances to the first hardware thread of each other core.
    pub points: Vec<PuDistance>,
    /// The distance to the first other hardware thread of the same core.
    pub same_core: Option<PuDistance>,
    /// The nearest PU: at the line's home, on a quiet machine with homes.
    pub nearest: u32,
    /// The smallest of the medians, in cycles of the machine's clock.
    pub least_cycles: f64,
    /// The largest of the medians.
    pub most_cycles: f64,
    /// The median over all points.
    pub median_cycles: f64,
    /// The slowest batch of any run.
    pub slowest_cycles: f64,
    /// The length of such a cycle.
    pub nanoseconds_per_cycle: f64,
    /// Rank correlation (Spearman) of the distances with the cores' steps around a ring of all
    /// cores: 1 if the position determines the distance; null if all distances are equal.
    pub ring_correlation: Option<f64>,
}

/// The distance to one PU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PuDistance {
    /// The PU at the other end.
    pub pu: u32,
    /// The median over the runs, in cycles of the machine's clock.
    pub cycles: f64,
    /// The slowest batch.
    pub slowest_cycles: f64,
}

/// Measures the distances from one PU over a line.
///
/// # Errors
/// A PU does not exist, there are too many pairs, or the testbed failed.
pub fn curve<T: Testbed>(
    bed: &mut T,
    chip: &Chip,
    options: &CurveOptions,
) -> Result<DistanceCurve, ChannelsError> {
    let home = chip.core_of(options.from)?;
    let mut rng = Rng::with_seed(options.seed);
    // One PU per core: its sibling has the same distance.
    let others = (0..chip.cores.len()).filter(|core| *core != home);
    let points = others.map(|core| point(bed, chip, options, chip.first(core), &mut rng));
    let points = points.collect::<Result<Vec<PuDistance>, _>>()?;
    let sibling = chip.cores[home].iter().find(|pu| **pu != options.from);
    let same_core = sibling.map(|pu| point(bed, chip, options, *pu, &mut rng)).transpose()?;
    let nearest = points.iter().min_by(|a, b| a.cycles.total_cmp(&b.cycles));
    let nearest =
        nearest.ok_or_else(|| ChannelsError::Unfit("a distance needs two cores".to_owned()))?.pu;
    Ok(DistanceCurve {
        from: options.from,
        line: options.line,
        pairs: options.pairs,
        same_core,
        nearest,
        least_cycles: points.iter().map(|point| point.cycles).fold(f64::INFINITY, f64::min),
        most_cycles: points.iter().map(|point| point.cycles).fold(0.0, f64::max),
        median_cycles: median(points.iter().map(|point| point.cycles)).unwrap_or(f64::NAN),
        slowest_cycles: points.iter().map(|point| point.slowest_cycles).fold(0.0, f64::max),
        nanoseconds_per_cycle: bed.ns_per_tick() * f64::from(bed.ticks_per_cycle()),
        ring_correlation: ring_correlation(chip, home, &points)?,
        points,
    })
}

fn ring_correlation(
    chip: &Chip,
    from: usize,
    points: &[PuDistance],
) -> Result<Option<f64>, ChannelsError> {
    let mut steps = Vec::with_capacity(points.len());
    for point in points {
        let one_way = chip.core_of(point.pu)?.abs_diff(from);
        steps.push(one_way.min(chip.cores.len() - one_way) as f64);
    }
    let cycles: Vec<f64> = points.iter().map(|point| point.cycles).collect();
    Ok(spearman(&steps, &cycles))
}

fn point<T: Testbed>(
    bed: &mut T,
    chip: &Chip,
    options: &CurveOptions,
    to: u32,
    rng: &mut Rng,
) -> Result<PuDistance, ChannelsError> {
    let mut means = Vec::new();
    let mut slowest = 0.0_f64;
    for _ in 0..options.runs {
        let mut seats = vec![options.from, to];
        let others = options.pairs.saturating_sub(1);
        // The measured pair is first; the others only keep the ring busy, at other positions in
        // every run.
        seats.extend(chip.pairs(others, &[options.from, to], rng)?);
        let lines: Vec<u32> = [FIRST_LINE + options.line]
            .into_iter()
            .chain(lines_beyond(options.line, others, rng))
            .collect();
        let (pairs, _) = round_trips(bed, &seats, &lines, options.batches)?;
        means.extend(pairs.first().map(|pair| pair.mean));
        slowest = pairs.first().map_or(slowest, |pair| slowest.max(pair.slowest));
    }
    Ok(PuDistance { pu: to, cycles: median(&means).unwrap_or(f64::NAN), slowest_cycles: slowest })
}

/// A random line in its own page for each, beyond this one.
fn lines_beyond(line: u32, count: usize, rng: &mut Rng) -> impl Iterator<Item = u32> {
    (1..=count as u32).map(move |page| FIRST_LINE + line + 64 * page + rng.u32(..64))
}

/// The lines of shared memory that the measurement needs.
pub fn lines_needed(options: &CurveOptions) -> u32 {
    FIRST_LINE + options.line + 64 * (options.pairs as u32 + 1)
}
