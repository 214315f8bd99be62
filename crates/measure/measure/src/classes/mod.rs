//! Distance classes, and the order to show them.
//!
//! A class contains all pairs with the same relation, from the topology or, if unknown, the groups
//! in the distances.

mod interval;
mod order;
mod pooled;
mod relation;

pub use interval::{PairInterval, are_apart};
pub use order::grouped_order;
pub use relation::{LEVELS, Relations};

use seatmap_data::machine::{CoreDistance, Deciles, Profile};
use seatmap_data::statistics::{Ordered, quantile_sorted};
use serde::Serialize;

/// The values behind the quantiles of a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum QuantilesOf {
    /// All batches of its pairs, each pair with equal weight.
    Samples,
    /// The medians of its pairs: models and files of other tools contain only these.
    PairMedians,
}

/// One distance class, in round-trip nanoseconds.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistanceClass {
    /// The relation of the pairs in the topology's words: `SMT siblings`, `same L3`, `other
    /// package`...
    pub name: String,
    /// The number of unordered pairs.
    pub pairs: usize,
    /// The median.
    pub median_ns: f64,
    /// The tenth percentile.
    pub p10_ns: f64,
    /// The ninetieth percentile.
    pub p90_ns: f64,
    /// The values behind these quantiles.
    pub quantiles_of: QuantilesOf,
}

/// The classes of a profile, nearest first; empty without distances. Pairs of unknown distance are
/// excluded.
pub fn classes(profile: &Profile) -> Vec<DistanceClass> {
    classes_with_distances(profile).into_iter().map(|(class, _)| class).collect()
}

/// The distance classes with the ascending medians of their pairs, for a histogram.
pub fn classes_with_distances(profile: &Profile) -> Vec<(DistanceClass, Vec<f64>)> {
    classes_with_pairs(profile)
        .into_iter()
        .map(|(class, pairs)| (class, pairs.iter().map(|pair| pair.median_ns).collect()))
        .collect()
}

/// The distance classes with their pairs, by ascending medians.
pub fn classes_with_pairs(profile: &Profile) -> Vec<(DistanceClass, Vec<PairInterval>)> {
    let Some(distance) = &profile.core_distance else { return Vec::new() };
    let relations = Relations::of(profile, distance);
    let mut members = std::collections::BTreeMap::<String, Vec<Member>>::new();
    for (at, (i, j, _)) in
        distance.median_ns.pairs().enumerate().filter(|(_, pair)| pair.2.is_finite())
    {
        let interval = PairInterval::of(distance, i, j);
        let member = Member { interval, deciles: deciles(distance, at) };
        members.entry(relations.name(i, j)).or_default().push(member);
    }
    let mut classes: Vec<_> = members
        .into_iter()
        .filter_map(|(name, mut members)| {
            members.sort_by_key(|it| Ordered(it.interval.median_ns));
            let class = class(name, &members)?;
            Some((class, members.into_iter().map(|member| member.interval).collect()))
        })
        .collect();
    classes.sort_by_key(|(class, _)| Ordered(class.median_ns));
    classes
}

struct Member {
    interval: PairInterval,
    deciles: Option<Deciles>,
}

fn deciles(distance: &CoreDistance, at: usize) -> Option<Deciles> {
    distance.deciles_ns.as_ref()?.get(at).copied().flatten()
}

fn class(name: String, members: &[Member]) -> Option<DistanceClass> {
    let ascending: Vec<f64> = members.iter().map(|member| member.interval.median_ns).collect();
    // Deciles and medians do not mix: if one pair lacks deciles, all count by their medians.
    let deciles: Option<Vec<Deciles>> = members.iter().map(|member| member.deciles).collect();
    let quantiles_of =
        if deciles.is_some() { QuantilesOf::Samples } else { QuantilesOf::PairMedians };
    let [p10_ns, median_ns, p90_ns] = [0.1, 0.5, 0.9].map(|share| match &deciles {
        Some(deciles) => pooled::quantile(deciles, share),
        None => quantile_sorted(&ascending, share),
    });
    Some(DistanceClass {
        name,
        pairs: members.len(),
        median_ns: median_ns?,
        p10_ns: p10_ns?,
        p90_ns: p90_ns?,
        quantiles_of,
    })
}

#[cfg(test)]
mod tests;
