//! Faults that a node's own figures show: its packets, its clock, and the facts of its kind.

use super::{Court, FEWEST_PAIRS, Fault, Kind};
use seatmap_statistics::median;
use std::collections::BTreeMap;

/// Clocks are apart if they differ by more than this and more than a round trip takes, in nanoseconds.
const CLOCK_NS: f64 = 50e6;

impl Court<'_> {
    /// Nodes whose packets differ in size from most.
    pub(super) fn mtu(&self) -> Vec<Fault> {
        let own = |node: usize| {
            let of = self.cluster.pairs.iter().filter(|pair| pair.nodes.contains(&node));
            of.filter_map(|pair| pair.mtu_bytes).map(f64::from).collect::<Vec<_>>()
        };
        let all: Vec<f64> = self.cluster.pairs.iter().filter_map(|pair| pair.mtu_bytes).map(f64::from).collect();
        let Some(usual) = median(&all) else { return Vec::new() };
        let differs = |node: &usize| {
            let own = own(*node);
            own.len() >= FEWEST_PAIRS && own.iter().all(|mtu| (mtu - usual).abs() > 0.5)
        };
        let fault = |node: usize| {
            let mtu = own(node)[0];
            let sentence = format!("{}: its packets have {mtu} bytes, those of the others {usual}", self.name(node));
            self.fault(Kind::Mtu, &[node], None, sentence)
        };
        (0..self.cluster.nodes.len()).filter(differs).map(fault).collect()
    }

    /// Nodes whose clock differs from most others.
    pub(super) fn clocks(&self) -> Vec<Fault> {
        let offset = |node: usize| {
            let ahead = self.cluster.pairs.iter().filter_map(|pair| match pair.nodes {
                [a, _] if a == node => pair.clock_offset_ns.map(|ns| -ns),
                [_, b] if b == node => pair.clock_offset_ns,
                _ => None,
            });
            median(&ahead.collect::<Vec<_>>())
        };
        let fault = |node: usize| {
            let offset_ns = offset(node).filter(|ns| ns.abs() > CLOCK_NS)?;
            let ahead = if offset_ns > 0.0 { "ahead of" } else { "behind" };
            let sentence =
                format!("{}: its clock is {:.3} s {ahead} those of the others", self.name(node), offset_ns.abs() / 1e9);
            Some(self.fault(Kind::Clock, &[node], None, sentence))
        };
        (0..self.cluster.nodes.len()).filter_map(fault).collect()
    }

    /// Nodes that differ from a majority in what their kind has in common.
    pub(super) fn different(&self) -> Vec<Fault> {
        let kinds: Vec<_> = self.cluster.nodes.iter().map(|node| node.facts.kind()).collect();
        let mut faults = Vec::new();
        for fact in 0..kinds.first().map_or(0, Vec::len) {
            let mut counts = BTreeMap::<&str, usize>::new();
            kinds.iter().for_each(|kind| *counts.entry(&kind[fact].1).or_default() += 1);
            let Some((usual, count)) = counts.iter().max_by_key(|(_, count)| **count) else { continue };
            // A cluster may have two kinds of nodes.
            if 4 * count < 3 * kinds.len() || kinds.len() < 3 {
                continue;
            }
            for (node, kind) in kinds.iter().enumerate().filter(|(_, kind)| kind[fact].1 != **usual) {
                let (what, own) = &kind[fact];
                let sentence =
                    format!("{}: {what} {own}, where {count} of {} nodes have {usual}", self.name(node), kinds.len());
                faults.push(self.fault(Kind::Different, &[node], None, sentence));
            }
        }
        faults
    }
}
