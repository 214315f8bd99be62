//! Faults in a node's own figures: packets, clock and hardware.

use super::{ClusterFault, ClusterFaultKind, SMALL_BYTES, fault};
use crate::cluster::{Cluster, NodePair};
use crate::facts::UNKNOWN;
use seatmap_data::statistics::median;
use seatmap_data::statistics::words::counted;

/// A clock is wrong if it differs by more than this (in nanoseconds) and by more than a round trip.
const CLOCK_NS: f64 = 50e6;

/// Nodes with a wrong clock.
pub fn clocks(cluster: &Cluster) -> Vec<ClusterFault> {
    let odd = (0..cluster.nodes.len()).filter_map(|node| {
        let offset_ns = clock_offset_ns(cluster, node).filter(|ns| ns.abs() > CLOCK_NS)?;
        let ahead = if offset_ns > 0.0 { "ahead of" } else { "behind" };
        let what =
            format!("its clock is {:.3} s {ahead} those of the others", offset_ns.abs() / 1e9);
        Some(fault(cluster, ClusterFaultKind::Clock, &[node], &what))
    });
    odd.collect()
}

fn clock_offset_ns(cluster: &Cluster, node: usize) -> Option<f64> {
    let ahead = cluster.pairs.iter().filter_map(|pair| match pair.nodes {
        [a, _] if a == node => shown_offset_ns(pair).map(|ns| -ns),
        [_, b] if b == node => shown_offset_ns(pair),
        _ => None,
    });
    median(ahead)
}

/// 0 within a round trip: a delay in one direction shifts it by half.
fn shown_offset_ns(pair: &NodePair) -> Option<f64> {
    let trip_ns = pair.trip(SMALL_BYTES).map_or(0.0, |trip| trip.median_ns);
    pair.clock_offset_ns.map(|ns| if ns.abs() > trip_ns { ns } else { 0.0 })
}

/// Nodes that differ from at least two thirds of all; a cluster may have two kinds.
pub fn different(cluster: &Cluster) -> Vec<ClusterFault> {
    let nodes = cluster.nodes.iter().enumerate().map(|(at, node)| {
        [vec![("packets of", packet_size(cluster, at))], node.facts.kind()].concat()
    });
    let nodes: Vec<Vec<(&str, String)>> = nodes.collect();
    let mut faults = Vec::new();
    for fact in 0..nodes.first().map_or(0, Vec::len) {
        let kind = if fact == 0 { ClusterFaultKind::Mtu } else { ClusterFaultKind::Different };
        let values: Vec<&str> = nodes.iter().map(|facts| &*facts[fact].1).collect();
        let usual = values.iter().find(|value| 3 * number(&values, value) >= 2 * values.len());
        let Some(usual) = usual else { continue };
        let others = values.iter().enumerate().filter(|(_, own)| ![usual, &UNKNOWN].contains(own));
        faults.extend(others.map(|(node, own)| {
            let what = format!(
                "{} {own}, but {usual} on {} of {}",
                nodes[node][fact].0,
                number(&values, usual),
                counted(values.len(), "node")
            );
            fault(cluster, kind, &[node], &what)
        }));
    }
    faults
}

fn number(values: &[&str], value: &str) -> usize {
    values.iter().filter(|other| **other == value).count()
}

/// The middle of those on the node's connections: another end may accept less.
fn packet_size(cluster: &Cluster, node: usize) -> String {
    let own = cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node));
    let mut sizes: Vec<u32> = own
        .filter_map(|pair| pair.end_of(node).map_or(pair.mtu_bytes, |end| end.mtu_bytes))
        .collect();
    sizes.sort_unstable();
    let middle = sizes.get(sizes.len().saturating_sub(1) / 2);
    middle.map_or(UNKNOWN.to_owned(), |size| counted(size, "byte"))
}
