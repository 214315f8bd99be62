//! Samples inside a pass may scatter too much for a mixture, while the medians of the passes form
//! two sets further apart than either is wide.

use super::mixture::SMALLEST_RATIO;
use seatmap_data::machine::Regime;
use seatmap_data::statistics::{Ordered, median};

/// The fast and the slow level, if the passes form two sets.
pub fn levels(passes: &[Vec<f64>]) -> Option<[Regime; 2]> {
    let mut passes: Vec<(f64, &Vec<f64>)> =
        passes.iter().filter_map(|pass| Some((median(pass)?, pass))).collect();
    passes.sort_by_key(|(median, _)| Ordered(*median));
    let medians: Vec<f64> = passes.iter().map(|(median, _)| *median).collect();
    let slowest = passes.len().checked_sub(1)?;
    let at = (1..=slowest).max_by_key(|at| Ordered(medians[*at] / medians[at - 1]))?;
    let gap = medians[at] / medians[at - 1];
    let is_clear = gap >= SMALLEST_RATIO
        && gap > medians[at - 1] / medians[0]
        && gap > medians[slowest] / medians[at];
    let (fast, slow) = passes.split_at(at);
    let all = passes.iter().map(|(_, pass)| pass.len()).sum::<usize>() as f64;
    is_clear.then_some(())?;
    Some([level(fast, all)?, level(slow, all)?])
}

fn level(passes: &[(f64, &Vec<f64>)], all: f64) -> Option<Regime> {
    let samples: Vec<f64> = passes.iter().flat_map(|(_, pass)| pass.iter().copied()).collect();
    Some(Regime { median_ns: median(&samples)?, share: samples.len() as f64 / all })
}
