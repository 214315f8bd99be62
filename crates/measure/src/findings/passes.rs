//! Pairs whose passes do not agree.

use super::{Finding, Flip};
use seatmap_machine::{CoreDistance, PairRegimes, PairStatus};

pub fn multi_regime(distance: &CoreDistance) -> Option<Finding> {
    let (pairs, percent) = count(distance, PairStatus::MultiRegime)?;
    let widest = distance.regimes.iter().filter_map(flip).max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    Some(Finding::MultiRegime { pairs, percent, widest })
}

pub fn drifting(distance: &CoreDistance) -> Option<Finding> {
    let (pairs, percent) = count(distance, PairStatus::Drifting)?;
    Some(Finding::Drifting { pairs, percent })
}

/// How many pairs have this status, and what percentage of all that have one; `None` where no pair has it.
fn count(distance: &CoreDistance, status: PairStatus) -> Option<(usize, f64)> {
    let known = distance.status.pairs().filter_map(|(_, _, status)| *status);
    let (found, all) = known.fold((0, 0), |(found, all), each| (found + usize::from(each == status), all + 1));
    (found > 0).then(|| (found, 100.0 * f64::from(found as u32) / f64::from(all)))
}

fn flip(pair: &PairRegimes) -> Option<Flip> {
    let [fast, .., slow] = pair.regimes.as_slice() else { return None };
    let slow_percent = 100.0 * (1.0 - fast.share);
    Some(Flip { pus: pair.pus, fast_ns: fast.median_ns, slow_ns: slow.median_ns, slow_percent })
}

fn ratio(flip: &Flip) -> f64 {
    flip.slow_ns / flip.fast_ns
}
