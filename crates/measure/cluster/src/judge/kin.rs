//! The group that a node is held against, which need not be the one that it seems to stand in.

use crate::choice::SIZE_BYTES;
use crate::cluster::Cluster;
use seatmap_statistics::median;
use std::collections::{BTreeMap, BTreeSet};

/// A node belongs to a group from whose nodes all others are farther by this factor.
const NEARER: f64 = 1.15;

/// The group of each node for comparisons. A node behind a bad cable seems to stand alone: where it is still nearer to
/// one group than to all others, it belongs there.
pub(super) fn kin(cluster: &Cluster) -> Vec<usize> {
    let mut group = cluster.group_of();
    for node in lone(&group) {
        if let Some(nearest) = nearest(cluster, &group, node) {
            group[node] = nearest;
        }
    }
    group
}

/// The nodes that are the only ones of their groups, if those of most groups are not.
pub(super) fn lone(group: &[usize]) -> BTreeSet<usize> {
    let mut sizes = BTreeMap::<usize, usize>::new();
    group.iter().for_each(|group| *sizes.entry(*group).or_default() += 1);
    let lone: BTreeSet<usize> = (0..group.len()).filter(|node| sizes[&group[*node]] == 1).collect();
    if 4 * lone.len() > group.len() { BTreeSet::new() } else { lone }
}

/// The group that is nearer to a node than all others.
fn nearest(cluster: &Cluster, group: &[usize], node: usize) -> Option<usize> {
    let mut trips = BTreeMap::<usize, Vec<f64>>::new();
    for pair in cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node)) {
        let other = pair.nodes[usize::from(pair.nodes[0] == node)];
        trips.entry(group[other]).or_default().extend(pair.trip(SIZE_BYTES).map(|trip| trip.median_ns));
    }
    let mut middles: Vec<(f64, usize)> =
        trips.iter().filter_map(|(group, trips)| Some((median(trips)?, *group))).collect();
    middles.sort_by(|a, b| a.0.total_cmp(&b.0));
    match middles[..] {
        [(_, only)] => Some(only),
        [(near, first), (far, _), ..] if far >= NEARER * near => Some(first),
        _ => None,
    }
}
