//! The group that a node is held against, which need not be the one that it seems to stand in: a
//! node behind a bad cable seems to stand alone. Of several networks, the one that needs the least
//! to be explained is taken.

use super::explain::Explanation;
use super::figures::{Figure, Item};
use super::network::Network;
use crate::choice::SIZE_BYTES;
use crate::cluster::Cluster;
use seatmap_statistics::median;
use std::collections::BTreeMap;

/// The usual figure is one of these quantiles of all like ones, best first: of four nodes on a
/// switch, one bad one spoils half of the pairs.
const SHARES: [f64; 3] = [0.15, 0.35, 0.5];

/// A node belongs to a group from whose nodes all others are farther by this factor.
const NEARER: f64 = 1.15;

/// The cost of a node that stands alone though others do not, in the units of a cause.
const ALONE: f64 = 2.0;

/// From so many lone nodes on, if they are more than a quarter of all, it is twice that: a switch
/// for each is unlikely.
const MANY: usize = 3;

/// The cost more if no other way leads between switches, so that its ways cannot be compared with
/// any.
const UNCOMPARED: f64 = 4.0;

/// A lone node whose small messages take longer than those inside groups by a factor of this range
/// may be behind another switch; a very slow link makes them later than that.
const FARTHER: std::ops::Range<f64> = 1.15..2.5;

/// The most groups that a node is tried in.
const MOST_NEAR: usize = 4;

/// The most lone nodes of which each is tried in a group of others.
const MOST_TRIED: usize = 8;

/// The explanation of all figures that costs least, over the networks that may be behind them.
pub(super) fn explained<'a>(cluster: &Cluster, items: &'a [Item]) -> Explanation<'a> {
    let own = one_group_if_none(cluster.group_of());
    let alone = lone(&own);
    let explanation = best_share(items, own.clone());
    let cost = explanation.cost + price(items, &own, &alone);
    let mut best = BestGroups { items, explanation, cost };
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
struct BestGroups<'a> {
    items: &'a [Item],
    explanation: Explanation<'a>,
    /// With the price of lone nodes.
    cost: f64,
}

impl BestGroups<'_> {
    /// Takes other groups if they cost no more; whether it did.
    fn consider(&mut self, group: &[usize], left: &[usize]) -> bool {
        let other = best_share(self.items, group.to_vec());
        let total = other.cost + price(self.items, group, left);
        // Where both cost the same, a node belongs to a group.
        let is_better = total <= self.cost;
        if is_better {
            self.explanation = other;
            self.cost = total;
        }
        is_better
    }
}

fn best_share(items: &[Item], group: Vec<usize>) -> Explanation<'_> {
    let [first, others @ ..] = SHARES;
    let first = Explanation::of(Network::new(items, group.clone(), first));
    others
        .into_iter()
        .map(|share| Explanation::of(Network::new(items, group.clone(), share)))
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

/// The cost of a network in which these nodes stand alone.
fn price(items: &[Item], group: &[usize], alone: &[usize]) -> f64 {
    let mut others: Vec<usize> =
        (0..group.len()).filter(|node| !alone.contains(node)).map(|node| group[node]).collect();
    others.sort_unstable();
    others.dedup();
    let are_many = alone.len() >= MANY && 4 * alone.len() > group.len();
    let each = if are_many { 2.0 * ALONE } else { ALONE };
    alone
        .iter()
        .map(|node| match others.len() {
            0 | 1 if !is_farther(items, group, *node) => each + UNCOMPARED,
            _ => each,
        })
        .sum()
}

/// The bits of a small message with the headers of Ethernet, IP and TCP.
const SMALL_BITS: f64 = 8.0 * 74.0;

/// Whether the small messages of a node take longer than those inside groups, besides the time that
/// its link needs for their bits.
fn is_farther(items: &[Item], group: &[usize], node: usize) -> bool {
    let own = way_ns(items, |item| item.from == node || item.to == node);
    let inside = way_ns(items, |item| group[item.from] == group[item.to]);
    own.zip(inside).is_some_and(|(own, inside)| FARTHER.contains(&(own / inside)))
}

/// The usual time of small messages, there and back, without that which links need for their bits.
fn way_ns(items: &[Item], counts: impl Fn(&Item) -> bool) -> Option<f64> {
    let time_ns = middle(items, Figure::Time, &counts)?;
    // There and back; microseconds for a bit are 1,000 nanoseconds.
    let sending_ns = middle(items, Figure::Slowness, &counts)
        .map_or(0.0, |slowness| 2.0 * SMALL_BITS * 1e3 * slowness);
    Some(time_ns - sending_ns)
}

fn middle(items: &[Item], figure: Figure, counts: impl Fn(&Item) -> bool) -> Option<f64> {
    let of = items.iter().filter(|item| item.figure == figure && counts(item));
    median(&of.map(|item| item.value).collect::<Vec<f64>>())
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
