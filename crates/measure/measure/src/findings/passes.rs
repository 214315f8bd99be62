//! Pairs whose passes disagree.

use super::{Flip, ProfileFinding, Wide};
use seatmap_data::machine::{CoreDistance, PairRegimes, PairStatus};
use seatmap_data::statistics::Ordered;

pub fn multi_regime(distance: &CoreDistance) -> Option<ProfileFinding> {
    let (pairs, percent) = count(distance, PairStatus::MultiRegime)?;
    let widest = distance.regimes.iter().filter_map(flip).max_by_key(|it| Ordered(ratio(it)));
    Some(ProfileFinding::MultiRegime { pairs, percent, widest })
}

pub fn stacked(distance: &CoreDistance) -> Option<ProfileFinding> {
    let (pairs, percent) = count(distance, PairStatus::Stacked)?;
    let (i, j, _) =
        distance.status.pairs().find(|(_, _, status)| **status == Some(PairStatus::Stacked))?;
    let example = [distance.pus[i], distance.pus[j]];
    let median_ns = distance.median_ns[(i, j)];
    Some(ProfileFinding::Stacked { pairs, percent, example, median_ns })
}

pub fn drifting(distance: &CoreDistance) -> Option<ProfileFinding> {
    let (pairs, percent) = count(distance, PairStatus::Drifting)?;
    Some(ProfileFinding::Drifting { pairs, percent })
}

pub fn unsteady(distance: &CoreDistance) -> Option<ProfileFinding> {
    let (pairs, percent) = count(distance, PairStatus::Unsteady)?;
    let marked =
        distance.status.pairs().filter(|(_, _, status)| **status == Some(PairStatus::Unsteady));
    let wide = marked.filter_map(|(i, j, _)| wide(distance, i, j));
    let widest = wide.max_by_key(|it| Ordered(it.high_ns / it.low_ns));
    Some(ProfileFinding::Unsteady { pairs, percent, widest })
}

fn wide(distance: &CoreDistance, i: usize, j: usize) -> Option<Wide> {
    let [low_ns, high_ns] =
        [distance.ci95_low_ns.as_ref()?, distance.ci95_high_ns.as_ref()?].map(|end| end[(i, j)]);
    Some(Wide {
        pus: [distance.pus[i], distance.pus[j]],
        median_ns: distance.median_ns[(i, j)],
        low_ns,
        high_ns,
    })
}

fn count(distance: &CoreDistance, status: PairStatus) -> Option<(usize, f64)> {
    let known = distance.status.pairs().filter_map(|(_, _, status)| *status);
    let (found, all) =
        known.fold((0, 0), |(found, all), each| (found + usize::from(each == status), all + 1));
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
