//! The parts of a cluster that can be bad.

use super::figures::{Item, PairMetric};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkPart {
    Node(usize),
    /// The connection of a group to the others.
    Uplink(usize),
    /// All links of a group.
    Switch(usize),
    /// A path that only two nodes use, such as a route.
    Pair([usize; 2]),
    /// The distance between two groups, which is not a fault if it exceeds others.
    Tier([usize; 2]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartDirection {
    Both,
    /// Out of the part, or from the first node of a pair to the second.
    From,
    /// Into the part, or from the second node to the first.
    To,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultLocation {
    pub part: NetworkPart,
    pub direction: PartDirection,
}

impl PartDirection {
    pub fn words(self, whom: &str) -> String {
        match self {
            PartDirection::Both => "both ways".to_owned(),
            PartDirection::From => format!("from {whom}"),
            PartDirection::To => format!("to {whom}"),
        }
    }
}

impl NetworkPart {
    /// 0 outwards, 1 inwards.
    fn side(self, group: &[usize], from: usize, to: usize) -> Option<usize> {
        match self {
            NetworkPart::Node(node) => side_of(from == node, to == node),
            NetworkPart::Uplink(own) => side_of(group[from] == own, group[to] == own),
            NetworkPart::Switch(own) => (group[from] == own || group[to] == own).then_some(0),
            NetworkPart::Pair([a, b]) => side_of((from, to) == (a, b), (from, to) == (b, a)),
            NetworkPart::Tier([g, h]) => {
                let ends = [group[from], group[to]];
                (ends == [g, h] || ends == [h, g]).then_some(0)
            }
        }
    }

    pub fn side_of(self, group: &[usize], item: &Item) -> Option<usize> {
        match (item.figure, self) {
            (PairMetric::Wait, NetworkPart::Node(node)) => (item.from == node).then_some(0),
            (PairMetric::Wait, _)
            | (PairMetric::Lost | PairMetric::Scatter, NetworkPart::Tier(_)) => None,
            // A figure of both directions exists once, on side 0 of every part.
            (figure, part) if figure.is_of_pair() => {
                part.side(group, item.from, item.to).map(|_| 0)
            }
            (_, part) => part.side(group, item.from, item.to),
        }
    }

    pub fn covers(self, group: &[usize], [a, b]: [usize; 2]) -> bool {
        self.side(group, a, b).is_some()
    }
}

/// 0 for a path out of a part, 1 for one into it, `None` for both or neither.
fn side_of(is_out: bool, is_in: bool) -> Option<usize> {
    match (is_out, is_in) {
        (true, false) => Some(0),
        (false, true) => Some(1),
        _ => None,
    }
}
