//! The group that a node is held against, which need not be the one that it seems to stand in: a
//! node behind a bad cable seems to stand alone. Of several networks, the one that needs the least
//! to be explained is taken.

use super::explain::Explanation;
use super::figures::Item;
use super::network::Network;
use super::standing::Evidence;
use crate::choice::SIZE_BYTES;
use crate::cluster::Cluster;
use seatmap_statistics::median;
use std::collections::BTreeMap;

/// The usual figure is one of these quantiles of all like ones, best first: of four nodes on a
/// switch, one bad one spoils half of the pairs.
const SHARES: [f64; 3] = [0.15, 0.35, 0.5];

/// A node belongs to a group from whose nodes all others are farther by this factor.
const NEARER: f64 = 1.15;

/// The most groups that a node is tried in.
const MOST_NEAR: usize = 4;

/// The most lone nodes of which each is tried in a group of others.
const MOST_TRIED: usize = 8;

/// The explanation of all figures that costs least, over the networks that may be behind them.
pub(super) fn explained<'a>(cluster: &Cluster, items: &'a [Item]) -> Explanation<'a> {
    let own = one_group_if_none(cluster.group_of());
    let alone = lone(&own);
    let evidence = Evidence::of(cluster, &own, &alone);
    let explanation = best_share(items, own.clone(), &alone);
    let cost = explanation.cost + evidence.price(&explanation, &alone);
    let mut best = BestGroups { items, evidence: &evidence, doubtful: &alone, explanation, cost };
    for left in left_alone(&alone) {
        let mut together = own.clone();
        let joined: Vec<usize> =
            alone.iter().copied().filter(|node| !left.contains(node)).collect();
        joined.iter().for_each(|node| together[*node] = own[joined[0]]);
        best.consider(&together, &left);
    }
    let mut group = own.clone();
    let mut left = alone.clone();
    // One node after the other, each kept in the first group that costs no more: all combinations
    // would be too many.
    for node in alone.iter().take(MOST_TRIED) {
        for near in nearest(cluster, &own, &alone, *node) {
            let mut with = group.clone();
            let mut without = left.clone();
            with[*node] = near;
            without.retain(|other| other != node);
            if best.consider(&with, &without) {
                group = with;
                left = without;
                break;
            }
        }
    }
    best.explanation
}

/// The explanation with the least cost so far.
struct BestGroups<'a, 'e> {
    items: &'a [Item],
    evidence: &'e Evidence,
    /// The nodes that seem to stand alone.
    doubtful: &'e [usize],
    explanation: Explanation<'a>,
    /// With the price of lone nodes.
    cost: f64,
}

impl BestGroups<'_, '_> {
    /// Takes other groups if they cost no more; whether it did.
    fn consider(&mut self, group: &[usize], left: &[usize]) -> bool {
        let other = best_share(self.items, group.to_vec(), self.doubtful);
        let total = other.cost + self.evidence.price(&other, left);
        // Where both cost the same, a node belongs to a group.
        let is_better = total <= self.cost;
        if is_better {
            self.explanation = other;
            self.cost = total;
        }
        is_better
    }
}

fn best_share<'a>(items: &'a [Item], group: Vec<usize>, doubtful: &[usize]) -> Explanation<'a> {
    let [first, others @ ..] = SHARES;
    let first = Explanation::of(Network::new(items, group.clone(), doubtful, first));
    others
        .into_iter()
        .map(|share| Explanation::of(Network::new(items, group.clone(), doubtful, share)))
        .fold(first, |best, next| if next.cost < best.cost { next } else { best })
}

/// Nodes of which no two stand in one group have no groups.
fn one_group_if_none(group: Vec<usize>) -> Vec<usize> {
    let has_group = group.iter().enumerate().any(|(at, own)| group[..at].contains(own));
    if has_group { group } else { vec![0; group.len()] }
}

/// The nodes that are the only ones of their groups.
fn lone(group: &[usize]) -> Vec<usize> {
    if group.len() < 2 {
        Vec::new()
    } else {
        (0..group.len())
            .filter(|node| group.iter().filter(|other| **other == group[*node]).count() == 1)
            .collect()
    }
}

/// Lone nodes may be those of one switch, all or all but one: lists of those that are none of it.
fn left_alone(alone: &[usize]) -> Vec<Vec<usize>> {
    match alone.len() {
        0 | 1 => Vec::new(),
        2 => vec![Vec::new()],
        _ => {
            let all_but_one = alone.iter().take(MOST_TRIED).map(|node| vec![*node]);
            std::iter::once(Vec::new()).chain(all_but_one).collect()
        }
    }
}

/// The groups of others that a node may belong to: the one that is nearer to it than all others, or
/// else the nearest ones.
fn nearest(cluster: &Cluster, group: &[usize], alone: &[usize], node: usize) -> Vec<usize> {
    let mut trips = BTreeMap::<usize, Vec<f64>>::new();
    for pair in cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node)) {
        let other = pair.nodes[usize::from(pair.nodes[0] == node)];
        if !alone.contains(&other) {
            trips
                .entry(group[other])
                .or_default()
                .extend(pair.trip(SIZE_BYTES).map(|trip| trip.median_ns));
        }
    }
    let mut middles: Vec<(f64, usize)> =
        trips.iter().filter_map(|(group, trips)| Some((median(trips)?, *group))).collect();
    middles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_clear = matches!(middles[..], [(near, _), (far, _), ..] if far >= NEARER * near);
    middles.into_iter().map(|(_, group)| group).take(if is_clear { 1 } else { MOST_NEAR }).collect()
}
