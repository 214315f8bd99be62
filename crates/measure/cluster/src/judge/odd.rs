//! Faults in a node's own figures: packets, clock and hardware.

use super::{ClusterFault, ClusterFaultKind, Court, SMALL_BYTES};
use crate::cluster::NodePair;
use seatmap_data::statistics::median;
use seatmap_data::statistics::words::counted;
use std::collections::BTreeMap;

/// A clock is wrong if it differs by more than this (in nanoseconds) and by more than a round trip.
const CLOCK_NS: f64 = 50e6;

impl Court<'_> {
    /// Nodes whose packet size differs from that of most; without a majority none is named.
    pub fn mtu(&self) -> Vec<ClusterFault> {
        let sizes: Vec<Option<u32>> =
            (0..self.cluster.nodes.len()).map(|node| self.packet_bytes(node)).collect();
        let Some(usual) = majority(&sizes.iter().copied().flatten().collect::<Vec<_>>()) else {
            return Vec::new();
        };
        let odd = sizes.into_iter().enumerate().filter_map(|(node, size)| {
            let size = size.filter(|size| *size != usual)?;
            let sentence = format!(
                "{}: its packets have {size}, those of the others {usual}",
                self.name(node),
                size = counted(size, "byte")
            );
            Some(self.fault(ClusterFaultKind::Mtu, &[node], None, sentence))
        });
        odd.collect()
    }

    /// The packet size on most of a node's connections. A file without figures of the ends has one
    /// size per pair; the node's is then that of all, or else most, of its pairs.
    fn packet_bytes(&self, node: usize) -> Option<u32> {
        let own = self.cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node));
        let mut ends = Vec::new();
        let mut pairs = Vec::new();
        for pair in own {
            ends.extend(pair.end_of(node).and_then(|end| end.mtu_bytes));
            pairs.extend(pair.mtu_bytes);
        }
        match (ends.len(), pairs.as_slice()) {
            (1.., _) => majority(&ends),
            (0, [first, others @ ..]) if others.iter().all(|other| other == first) => Some(*first),
            _ => majority(&pairs),
        }
    }

    pub fn clocks(&self) -> Vec<ClusterFault> {
        (0..self.cluster.nodes.len())
            .filter_map(|node| {
                let offset_ns = self.clock_offset_ns(node).filter(|ns| ns.abs() > CLOCK_NS)?;
                let ahead = if offset_ns > 0.0 { "ahead of" } else { "behind" };
                let sentence = format!(
                    "{}: its clock is {:.3} s {ahead} those of the others",
                    self.name(node),
                    offset_ns.abs() / 1e9
                );
                Some(self.fault(ClusterFaultKind::Clock, &[node], None, sentence))
            })
            .collect()
    }

    fn clock_offset_ns(&self, node: usize) -> Option<f64> {
        let ahead = self.cluster.pairs.iter().filter_map(|pair| match pair.nodes {
            [a, _] if a == node => shown_offset_ns(pair).map(|ns| -ns),
            [_, b] if b == node => shown_offset_ns(pair),
            _ => None,
        });
        median(ahead)
    }

    pub fn different(&self) -> Vec<ClusterFault> {
        let kinds: Vec<_> = self.cluster.nodes.iter().map(|node| node.facts.kind()).collect();
        let mut faults = Vec::new();
        for fact in 0..kinds.first().map_or(0, Vec::len) {
            let mut counts = BTreeMap::<&str, usize>::new();
            kinds.iter().for_each(|kind| *counts.entry(&kind[fact].1).or_default() += 1);
            let Some((usual, count)) = counts.iter().max_by_key(|(_, count)| **count) else {
                continue;
            };
            // A cluster may have two kinds of nodes.
            if 4 * count < 3 * kinds.len() || kinds.len() < 3 {
                continue;
            }
            for (node, kind) in kinds.iter().enumerate().filter(|(_, kind)| kind[fact].1 != **usual)
            {
                let (what, own) = &kind[fact];
                let sentence = format!(
                    "{}: {what} {own}, but {usual} on {count} of {}",
                    self.name(node),
                    counted(kinds.len(), "node")
                );
                faults.push(self.fault(ClusterFaultKind::Different, &[node], None, sentence));
            }
        }
        faults
    }
}

/// 0 within a round trip: a delay in one direction shifts it by half.
fn shown_offset_ns(pair: &NodePair) -> Option<f64> {
    let trip_ns = pair.trip(SMALL_BYTES).map_or(0.0, |trip| trip.median_ns);
    pair.clock_offset_ns.map(|ns| if ns.abs() > trip_ns { ns } else { 0.0 })
}

fn majority(values: &[u32]) -> Option<u32> {
    values
        .iter()
        .copied()
        .find(|value| 2 * values.iter().filter(|other| *other == value).count() > values.len())
}
