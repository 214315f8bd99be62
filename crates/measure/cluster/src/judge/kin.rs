//! The group that a node is held against, which need not be the one that it seems to stand in.

use super::{OTHER_WAY, USUAL};
use crate::cluster::{Cluster, Pair};
use seatmap_statistics::quantile;
use std::collections::BTreeMap;

/// The group of each node for comparisons. A node behind a slow cable seems to stand alone: where one direction of its
/// rates is as good as those within a group, it belongs there.
pub(super) fn kin(cluster: &Cluster) -> Vec<usize> {
    let mut group = cluster.group_of();
    let Some(usual) = rate_within(cluster, &group) else { return group };
    for node in lone(&group) {
        let near = cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node) && best(pair) * OTHER_WAY >= usual);
        let nearest = near.max_by(|a, b| best(a).total_cmp(&best(b)));
        if let Some(pair) = nearest {
            group[node] = group[pair.nodes[usize::from(pair.nodes[0] == node)]];
        }
    }
    group
}

/// The better of a pair's rates, in Mbit/s.
fn best(pair: &Pair) -> f64 {
    pair.rate_mbps[0].max(pair.rate_mbps[1])
}

/// The nodes that are the only ones of their groups, if those of most groups are not.
pub(super) fn lone(group: &[usize]) -> Vec<usize> {
    let mut sizes = BTreeMap::<usize, usize>::new();
    group.iter().for_each(|group| *sizes.entry(*group).or_default() += 1);
    let lone: Vec<usize> = (0..group.len()).filter(|node| sizes[&group[*node]] == 1).collect();
    if 4 * lone.len() > group.len() { Vec::new() } else { lone }
}

/// The usual rate of pairs within groups, in Mbit/s.
pub(super) fn rate_within(cluster: &Cluster, group: &[usize]) -> Option<f64> {
    let within = cluster.pairs.iter().filter(|pair| group[pair.nodes[0]] == group[pair.nodes[1]]);
    quantile(&within.flat_map(|pair| pair.rate_mbps).collect::<Vec<_>>(), 1.0 - USUAL)
}
