//! The group with which each node is compared. It may differ from the group on file, because a bad
//! cable delays large messages as much as a second switch does. The fastest small messages
//! distinguish the two.

use super::SMALL_BYTES;
use crate::choice::{SIZE_BYTES, grouped};
use crate::cluster::{Cluster, NodePair};
use seatmap_data::statistics::{least, median};
use std::collections::BTreeMap;

/// Ethernet, IP and TCP headers of a message.
const HEADER_BYTES: u32 = 66;

/// Over a second switch, as a multiple of those inside one group: below this range two nodes share
/// a switch, above it the path is delayed. An assumption; the simulated clusters of the tests have
/// 1.22.
const FARTHER: std::ops::Range<f64> = 1.15..2.5;

/// Nodes that seem to be alone join each other and the group that their fastest messages reach
/// without a second switch.
pub fn groups(cluster: &Cluster) -> Vec<usize> {
    let own = cluster.group_of();
    let alone = lone(&own);
    if alone.len() == own.len() {
        return vec![0; own.len()];
    }
    let floors: Vec<([usize; 2], f64)> =
        cluster.pairs.iter().filter_map(|pair| Some((pair.nodes, floor_ns(pair)?))).collect();
    let inside_ns = least(floors.iter().map(|(_, ns)| ns));
    let mut group = own.clone();
    for (nodes, floor_ns) in &floors {
        let are_alone = nodes.iter().all(|node| alone.contains(node));
        if are_alone && *floor_ns < FARTHER.start * inside_ns {
            join(&mut group, *nodes);
        }
    }
    for node in &alone {
        let ways = ways_to(cluster, *node, &alone);
        let least = least(ways.iter().map(|way| way.floor_ns)) / inside_ns;
        if ways.is_empty() || FARTHER.contains(&least) {
            continue;
        }
        let groups = grouped(ways.iter().map(|way| (own[way.to], way)));
        // Small messages may allow several groups; large messages decide.
        let near = groups.values().filter(|ways| {
            least >= FARTHER.end || ways.iter().any(|way| way.floor_ns < FARTHER.start * inside_ns)
        });
        let nearest = near.min_by(|a, b| middle_ns(a).total_cmp(&middle_ns(b)));
        if let Some(way) = nearest.and_then(|ways| ways.first()) {
            join(&mut group, [*node, way.to]);
        }
    }
    group
}

struct Way {
    to: usize,
    floor_ns: f64,
    large_ns: f64,
}

fn ways_to(cluster: &Cluster, node: usize, alone: &[usize]) -> Vec<Way> {
    let own = cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node));
    let ways = own.filter_map(|pair| {
        let to = pair.nodes[usize::from(pair.nodes[0] == node)];
        let large_ns = pair.trip(SIZE_BYTES)?.median_ns;
        Some(Way { to, floor_ns: floor_ns(pair)?, large_ns })
    });
    ways.filter(|way| !alone.contains(&way.to)).collect()
}

fn middle_ns(ways: &[&Way]) -> f64 {
    median(ways.iter().map(|way| way.large_ns)).unwrap_or(f64::MAX)
}

fn join(group: &mut [usize], nodes: [usize; 2]) {
    let [from, to] = nodes.map(|node| group[node]);
    group.iter_mut().filter(|own| **own == from).for_each(|own| *own = to);
}

pub fn lone(group: &[usize]) -> Vec<usize> {
    let mut sizes = BTreeMap::<usize, usize>::new();
    group.iter().for_each(|own| *sizes.entry(*own).or_default() += 1);
    (0..group.len()).filter(|node| sizes[&group[*node]] == 1).collect()
}

/// The time of a pair's fastest small messages minus their transmission time, estimated from a
/// larger message because it depends on the link's rate.
fn floor_ns(pair: &NodePair) -> Option<f64> {
    let small = pair.trip(SMALL_BYTES)?;
    let larger = pair.trips.iter().filter(|trip| trip.size_bytes > SMALL_BYTES);
    let sending_ns = larger.min_by_key(|trip| trip.size_bytes).map_or(0.0, |larger| {
        let more_bytes = f64::from(larger.size_bytes - SMALL_BYTES);
        let more_ns = (larger.p10_ns - small.p10_ns).max(0.0);
        more_ns * f64::from(SMALL_BYTES + HEADER_BYTES) / more_bytes
    });
    // Noise in the larger ones must not reduce the time to zero.
    let floor_ns = (small.p10_ns - sending_ns).max(small.p10_ns / 2.0);
    (floor_ns > 0.0).then_some(floor_ns)
}
