//! Finds the bad parts: always the one that explains most of the remaining figures, single pairs
//! last.

use super::part::{NetworkPart, NetworkParts};
use super::path::{PairMetric, PathFigure};
use crate::choice::{grouped, pair};
use std::collections::{BTreeMap, BTreeSet};

/// A part with several pairs is blamed only if this many show it: a single pair may have a bad
/// route.
const FEWEST_PAIRS: usize = 2;

/// A path shows that a part is slow from this factor on: another part may limit it more.
const SLOW_TOO: f64 = 1.25;

/// Fewer retransmitted segments show no loss.
const FEWEST_RESENT: u64 = 5;

/// A bad figure of one side of a part.
#[derive(Clone, Copy, Debug)]
pub struct Symptom {
    pub part: NetworkPart,
    pub metric: PairMetric,
    /// 0 out of the part, 1 into it.
    pub side: usize,
    pub level: f64,
    pub usual: f64,
    /// Paths that show it.
    paths: usize,
}

/// The indices of the paths on each side of each part.
type PartSides = BTreeMap<(NetworkPart, PairMetric, usize), Vec<usize>>;

impl Symptom {
    pub fn factor(&self) -> f64 {
        self.level / self.usual
    }

    fn of(
        (part, metric, side): (NetworkPart, PairMetric, usize),
        on: &[&PathFigure],
    ) -> Option<Symptom> {
        let level = metric.level(on.iter().map(|path| path.value))?;
        let usual = metric.level(on.iter().map(|path| path.usual))?;
        let limit = metric.limit(part);
        let shown_from = if metric.is_distance() { SLOW_TOO } else { limit };
        let bad = on.iter().filter(|path| path.value >= shown_from * path.usual);
        let pairs: BTreeSet<[usize; 2]> =
            bad.clone().map(|path| pair(path.nodes[0], path.nodes[1])).collect();
        let are_several = matches!(part, NetworkPart::Pair(_)) || pairs.len() >= FEWEST_PAIRS;
        let resent = on.iter().fold(0, |sum: u64, path| sum.saturating_add(path.resent));
        let is_enough = metric != PairMetric::Lost || resent >= FEWEST_RESENT;
        (level >= limit * usual && are_several && is_enough).then(|| Symptom {
            part,
            metric,
            side,
            level,
            usual,
            paths: bad.count(),
        })
    }
}

/// The symptoms of each bad part.
pub fn causes(parts: &NetworkParts, mut paths: Vec<PathFigure>) -> Vec<Vec<Symptom>> {
    let sides = paths.iter().enumerate().flat_map(|(at, path)| {
        let on = parts.on(path.nodes).into_iter();
        on.filter_map(move |(part, side)| {
            Some(((part, path.metric, path.metric.side(part, side)?), at))
        })
    });
    let (pairs, larger): (PartSides, PartSides) = grouped(sides)
        .into_iter()
        .partition(|((part, ..), _)| matches!(part, NetworkPart::Pair(_)));
    let mut causes: Vec<Vec<Symptom>> = Vec::new();
    // Of equals the first, the smallest.
    while let Some(cause) = symptoms(&larger, &paths)
        .into_iter()
        .rev()
        .max_by_key(|cause| cause.iter().map(|symptom| symptom.paths).sum::<usize>())
    {
        for Symptom { part, metric, side, level, .. } in &cause {
            for at in &larger[&(*part, *metric, *side)] {
                paths[*at].usual = paths[*at].usual.max(*level);
            }
        }
        causes.push(cause);
    }
    // Groups farther apart than others are not faults.
    causes.retain(|cause| !matches!(cause[0].part, NetworkPart::Tier(_)));
    let blamed: BTreeSet<NetworkPart> = causes.iter().map(|cause| cause[0].part).collect();
    // A connection through a bad part is not blamed as well.
    causes.extend(symptoms(&pairs, &paths).into_iter().filter(|cause| {
        let NetworkPart::Pair(nodes) = cause[0].part else { return false };
        !parts.on(nodes).iter().any(|(part, _)| blamed.contains(part))
    }));
    causes
}

/// By part; none is empty.
fn symptoms(sides: &PartSides, paths: &[PathFigure]) -> Vec<Vec<Symptom>> {
    let found = sides.iter().filter_map(|(key, at)| {
        let on: Vec<&PathFigure> = at.iter().map(|at| &paths[*at]).collect();
        let symptom = Symptom::of(*key, &on)?;
        Some((symptom.part, symptom))
    });
    grouped(found).into_values().collect()
}
