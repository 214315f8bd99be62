//! Distance classes, and the order that shows them.
//!
//! A class gathers the pairs that have the same thing in common: a core, a cache, a package. It is named by the
//! topology where that is known, and by the groups found in the distances where it is not.

mod order;
mod relation;

pub use order::grouped_order;
pub(crate) use relation::{LEVELS, Level, Relations};

use crate::statistics::{quantile_sorted, sorted};
use seatmap_machine::Profile;
use serde::Serialize;

/// One distance class of a machine, over all its pairs. Round-trip nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DistanceClass {
    /// What the pairs have in common, in the topology's words: `SMT siblings`, `same L3`, `other package`...
    pub name: String,
    /// Unordered pairs in it.
    pub pairs: usize,
    /// Their median.
    pub median_ns: f64,
    /// Their tenth percentile.
    pub p10_ns: f64,
    /// Their ninetieth percentile.
    pub p90_ns: f64,
}

/// The classes of a profile, nearest first; empty where there are no distances. Pairs of unknown distance do not count.
#[must_use]
pub fn classes(profile: &Profile) -> Vec<DistanceClass> {
    classes_with_distances(profile).into_iter().map(|(class, _)| class).collect()
}

/// The same, each with the distances of its pairs in ascending order: what a histogram is drawn from.
#[must_use]
pub fn classes_with_distances(profile: &Profile) -> Vec<(DistanceClass, Vec<f64>)> {
    let Some(distance) = &profile.core_distance else { return Vec::new() };
    let relations = Relations::of(profile, distance);
    let mut members = std::collections::BTreeMap::<String, Vec<f64>>::new();
    for (i, j, value) in distance.median_ns.pairs() {
        members.entry(relations.name(i, j)).or_default().push(*value);
    }
    let with_class = |(name, values): (String, Vec<f64>)| {
        let ascending = sorted(&values);
        Some((class(name, &ascending)?, ascending))
    };
    let mut classes: Vec<_> = members.into_iter().filter_map(with_class).collect();
    classes.sort_by(|(a, _), (b, _)| a.median_ns.total_cmp(&b.median_ns));
    classes
}

fn class(name: String, ascending: &[f64]) -> Option<DistanceClass> {
    let at = |share| quantile_sorted(ascending, share);
    Some(DistanceClass { name, pairs: ascending.len(), median_ns: at(0.5)?, p10_ns: at(0.1)?, p90_ns: at(0.9)? })
}

#[cfg(test)]
mod tests;
