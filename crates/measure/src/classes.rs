//! Distance classes: SMT siblings, inside a group, between groups.

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

/// The classes of a profile, nearest first; empty where there are no distances.
#[must_use]
pub fn classes(_profile: &Profile) -> Vec<DistanceClass> {
    Vec::new()
}

/// The order in which heatmaps show PUs: indices into `core_distance.pus`, group by group, siblings side by side.
#[must_use]
pub fn grouped_order(profile: &Profile) -> Vec<usize> {
    (0..profile.core_distance.as_ref().map_or(0, |distance| distance.pus.len())).collect()
}
