//! The parts of a cluster that can be bad.

use crate::choice::{grouped, pair};
use std::collections::BTreeMap;

/// A part of the network, the smaller kinds first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkPart {
    Node(usize),
    /// The connection of a group to the others.
    Uplink(usize),
    /// All links of a group.
    Switch(usize),
    /// The distance between two groups, which is not a fault if it exceeds others.
    Tier([usize; 2]),
    /// A path that only two nodes use, such as a route.
    Pair([usize; 2]),
}

/// The groups of a cluster, and the parts that follow from them.
pub struct NetworkParts {
    group: Vec<usize>,
    members: BTreeMap<usize, Vec<usize>>,
}

impl NetworkParts {
    pub fn new(group: Vec<usize>) -> Self {
        let members = grouped(group.iter().enumerate().map(|(node, group)| (*group, node)));
        NetworkParts { group, members }
    }

    /// The nodes of a part.
    pub fn nodes(&self, part: NetworkPart) -> Vec<usize> {
        match part {
            NetworkPart::Node(node) => vec![node],
            NetworkPart::Uplink(group) | NetworkPart::Switch(group) => self.members[&group].clone(),
            NetworkPart::Tier(groups) => groups.map(|group| self.members[&group].clone()).concat(),
            NetworkPart::Pair(nodes) => nodes.to_vec(),
        }
    }

    /// The groups of two nodes, the lower one first.
    pub fn block(&self, [a, b]: [usize; 2]) -> [usize; 2] {
        pair(self.group[a], self.group[b])
    }

    pub fn are_far(&self, nodes: [usize; 2]) -> bool {
        let [g, h] = self.block(nodes);
        g != h
    }

    /// The parts on the path from one node to another, and its side of each: 0 out of the part, 1
    /// into it; 0 of a switch.
    pub fn on(&self, nodes: [usize; 2]) -> Vec<(NetworkPart, usize)> {
        let [from, to] = nodes;
        let mut parts = vec![
            (NetworkPart::Node(from), 0),
            (NetworkPart::Node(to), 1),
            (NetworkPart::Pair(pair(from, to)), usize::from(from > to)),
        ];
        let is_far = self.are_far(nodes);
        let groups = nodes.map(|node| self.group[node]);
        // In a group of one, the uplink and the switch are the node's own link.
        let several = groups.map(|group| self.members[&group].len() > 1);
        for side in [0, 1].into_iter().filter(|side| several[*side]) {
            if is_far {
                parts.push((NetworkPart::Uplink(groups[side]), side));
            }
            // A path inside a group counts once, as it does for its nodes.
            if is_far || side == 0 {
                parts.push((NetworkPart::Switch(groups[side]), 0));
            }
        }
        if is_far && several == [true; 2] {
            let side = usize::from(groups[0] > groups[1]);
            parts.push((NetworkPart::Tier(self.block(nodes)), side));
        }
        parts
    }
}
