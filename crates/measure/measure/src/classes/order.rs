//! The order of PUs in heatmaps.

use super::Relations;
use seatmap_data::machine::Profile;
use std::collections::HashMap;

/// The order of PUs in heatmaps, as indices into `core_distance.pus`: by sphere, group and core,
/// each in the order of its first PU.
pub fn grouped_order(profile: &Profile) -> Vec<usize> {
    let Some(distance) = &profile.core_distance else { return Vec::new() };
    let relations = Relations::of(profile, distance);
    let keys =
        [&relations.sphere, &relations.group, &relations.core].map(|labels| first_of(labels));
    let mut order: Vec<usize> = (0..distance.pus.len()).collect();
    order.sort_by_key(|pu| (keys[0][*pu], keys[1][*pu], keys[2][*pu], *pu));
    order
}

fn first_of(labels: &[usize]) -> Vec<usize> {
    let mut first = HashMap::new();
    labels.iter().enumerate().map(|(at, label)| *first.entry(*label).or_insert(at)).collect()
}
