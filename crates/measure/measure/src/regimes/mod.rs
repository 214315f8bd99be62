//! Whether a pair is stable, drifts, or flips between levels.
//!
//! On bare metal a pair has one distance. In a virtual machine it has several, as the host moves
//! the vCPUs: two vCPUs pinned by their guest flipped between 80 and 297 ns, 26 % of the time slow.
//! A median describes neither, so the levels are reported with their shares.
//!
//! - **Multi-regime**: two levels at least 20 % apart explain the samples better than any single
//!   level (`mixture`, `single`). Each side is examined again.
//! - **Drifting**: the medians of the passes move one way, beyond their noise (`drift`), or each
//!   pass has its own level, in order.
//! - **Stable**: neither, and the 95 % interval of the median ends less than 20 % above its start.
//! - **Unsteady**: the interval is wider, and the passes show no levels (`between`).
//! - **Stacked**: nine in ten samples exceed what any cache line takes, because the host runs both
//!   vCPUs on one CPU in turn. A sometimes preempted pair has fast samples too.

mod between;
mod drift;
mod mixture;
mod single;

use seatmap_data::machine::{PairStatus, Regime};
use seatmap_data::statistics::{median, quantile_sorted, sorted};

/// The widest 95 % interval of a stable median, as its end over its start: a wider one leaves room
/// for two levels.
pub const WIDEST_STABLE: f64 = mixture::SMALLEST_RATIO;

/// The round trip from which a cache line is not the cause, in nanoseconds. The longest published
/// distance is about 2,000 ns. A switch between two threads of a hypervisor takes at least 10,000
/// ns if the first yields at once, and milliseconds if its time slice must end.
pub const STACKED_NS: f64 = 10_000.0;

const FEWEST_STACKED: usize = 8;

/// From here on, [`passes_disagree`] ignores the extremes: about one visit is disturbed.
const PASSES_WITH_OUTLIERS: usize = 10;

/// The maximum number of levels; more are noise.
const MOST_LEVELS: usize = 4;

/// The verdict on one pair.
#[derive(Debug, PartialEq)]
pub struct PairVerdict {
    /// Stable, drifting, multi-regime or unsteady.
    pub status: PairStatus,
    /// Levels from fast to slow with their shares of the samples; empty without samples.
    pub regimes: Vec<Regime>,
}

/// Judges one pair from its samples by pass, in order of time. Ignores values that are not positive
/// and finite.
pub fn judge(passes: &[Vec<f64>]) -> PairVerdict {
    let passes = usable(passes);
    let samples = passes.concat();
    if is_stacked(&samples) {
        return PairVerdict { status: PairStatus::Stacked, regimes: levels(&samples, &[]) };
    }
    let mut bounds = Vec::new();
    find_bounds(&samples, &mut bounds);
    bounds.sort_unstable_by(f64::total_cmp);
    // Levels that follow each other without returning are a drift: a warming machine, not a moved
    // vCPU.
    let status = if bounds.is_empty() {
        if drift::is_drifting(&passes) { PairStatus::Drifting } else { PairStatus::Stable }
    } else if is_staircase(&passes, &bounds) {
        PairStatus::Drifting
    } else {
        PairStatus::MultiRegime
    };
    PairVerdict { status, regimes: levels(&samples, &bounds) }
}

/// Whether the two PUs of a pair run only in turn.
pub fn is_stacked(samples: &[f64]) -> bool {
    samples.len() >= FEWEST_STACKED
        && quantile_sorted(&sorted(samples), 0.1).is_some_and(|p10| p10 >= STACKED_NS)
}

/// Judges one pair with the 95 % interval of its median, from `low` to `high`.
pub fn judge_with_interval(passes: &[Vec<f64>], (low, high): (f64, f64)) -> PairVerdict {
    let verdict = judge(passes);
    if verdict.status != PairStatus::Stable || high <= WIDEST_STABLE * low {
        return verdict;
    }
    match between::levels(&usable(passes)) {
        Some(regimes) => PairVerdict { status: PairStatus::MultiRegime, regimes: regimes.to_vec() },
        None => PairVerdict { status: PairStatus::Unsteady, ..verdict },
    }
}

/// Whether the medians of the passes are as far apart as two levels. Cheap enough to check during a
/// measurement.
pub fn passes_disagree(passes: &[Vec<f64>]) -> bool {
    let medians = sorted(passes.iter().filter_map(median));
    let extremes = usize::from(medians.len() >= PASSES_WITH_OUTLIERS);
    match medians.get(extremes..medians.len() - extremes) {
        Some([fastest, .., slowest]) => *slowest > WIDEST_STABLE * fastest,
        _ => false,
    }
}

fn usable(passes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    passes
        .iter()
        .map(|pass| {
            pass.iter().copied().filter(|value| value.is_finite() && *value > 0.0).collect()
        })
        .filter(|pass: &Vec<f64>| !pass.is_empty())
        .collect()
}

fn find_bounds(samples: &[f64], bounds: &mut Vec<f64>) {
    if bounds.len() + 1 >= MOST_LEVELS {
        return;
    }
    let Some(bound) = mixture::bound(samples) else { return };
    bounds.push(bound);
    let (fast, slow): (Vec<f64>, Vec<f64>) = samples.iter().partition(|value| **value < bound);
    find_bounds(&fast, bounds);
    find_bounds(&slow, bounds);
}

fn levels(samples: &[f64], bounds: &[f64]) -> Vec<Regime> {
    (0..=bounds.len())
        .filter_map(|at| {
            let members: Vec<f64> =
                samples.iter().copied().filter(|value| level_of(*value, bounds) == at).collect();
            let share = members.len() as f64 / samples.len() as f64;
            median(&members).map(|median_ns| Regime { median_ns, share })
        })
        .collect()
}

fn level_of(value: f64, bounds: &[f64]) -> usize {
    bounds.partition_point(|bound| *bound <= value)
}

/// Every pass has its own level, rising or falling. Two passes are not enough.
fn is_staircase(passes: &[Vec<f64>], bounds: &[f64]) -> bool {
    let levels: Option<Vec<usize>> = passes
        .iter()
        .map(|pass| {
            let first = level_of(pass[0], bounds);
            pass.iter().all(|value| level_of(*value, bounds) == first).then_some(first)
        })
        .collect();
    let Some(levels) = levels else { return false };
    let rises = levels.windows(2).all(|pair| pair[0] < pair[1]);
    let falls = levels.windows(2).all(|pair| pair[0] > pair[1]);
    passes.len() >= 3 && (rises || falls)
}

#[cfg(test)]
mod tests;
