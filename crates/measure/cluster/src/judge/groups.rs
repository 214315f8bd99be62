//! The group with which each node is compared. It may differ from the group on file, because a bad
//! cable delays large messages as much as a second switch does. The fastest small messages
//! distinguish the two.

use super::SMALL_BYTES;
use crate::choice::SIZE_BYTES;
use crate::cluster::{Cluster, NodePair};
use seatmap_data::statistics::{Ordered, least};
use std::ops::Range;

/// Ethernet, IP and TCP headers of a message.
const HEADER_BYTES: u32 = 66;

/// Over a second switch, as a multiple of those inside one group: below this range two nodes share
/// a switch, above it the path is delayed. An assumption; the simulated clusters of the tests have
/// 1.22.
const FARTHER: Range<f64> = 1.15..2.5;

struct PairFloor {
    nodes: [usize; 2],
    floor_ns: f64,
    large_ns: f64,
}

/// Nodes that seem to be alone join each other, and the node to which large messages are fastest,
/// among those that their small messages reach without a second switch.
pub fn groups(cluster: &Cluster) -> Vec<usize> {
    let own = cluster.group_of();
    let is_alone = |node: &usize| own.iter().filter(|group| **group == own[*node]).count() == 1;
    let alone: Vec<usize> = (0..own.len()).filter(is_alone).collect();
    if alone.len() == own.len() {
        return vec![0; own.len()];
    }
    let floors: Vec<PairFloor> = cluster.pairs.iter().filter_map(floor).collect();
    let inside_ns = least(floors.iter().map(|pair| pair.floor_ns));
    let is_far = |path: &PairFloor| path.floor_ns >= FARTHER.start * inside_ns;
    let mut group = own.clone();
    for path in &floors {
        if path.nodes.iter().all(|node| alone.contains(node)) && !is_far(path) {
            join(&mut group, path.nodes);
        }
    }
    for node in alone {
        let paths: Vec<&PairFloor> =
            floors.iter().filter(|path| path.nodes.contains(&node)).collect();
        if FARTHER.contains(&(least(paths.iter().map(|path| path.floor_ns)) / inside_ns)) {
            continue;
        }
        let nearest = paths.into_iter().min_by_key(|path| (is_far(path), Ordered(path.large_ns)));
        nearest.into_iter().for_each(|path| join(&mut group, path.nodes));
    }
    group
}

fn join(group: &mut [usize], nodes: [usize; 2]) {
    let [from, to] = nodes.map(|node| group[node]);
    group.iter_mut().filter(|own| **own == from).for_each(|own| *own = to);
}

/// The time of a pair's fastest small messages minus their transmission time, estimated from a
/// larger message because of the link's rate.
fn floor(pair: &NodePair) -> Option<PairFloor> {
    let small_ns = pair.trip(SMALL_BYTES)?.p10_ns;
    let large = pair.trip(SIZE_BYTES)?;
    let larger = pair.trips.iter().find(|trip| trip.size_bytes > SMALL_BYTES)?;
    let more_bytes = f64::from(larger.size_bytes - SMALL_BYTES);
    let more_ns = (larger.p10_ns - small_ns).max(0.0);
    let sending_ns = more_ns * f64::from(SMALL_BYTES + HEADER_BYTES) / more_bytes;
    // Noise in the larger ones must not reduce the time to zero.
    let floor_ns = (small_ns - sending_ns).max(small_ns / 2.0);
    Some(PairFloor { nodes: pair.nodes, floor_ns, large_ns: large.median_ns })
}
