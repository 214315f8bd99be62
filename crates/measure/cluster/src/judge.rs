//! The faults of a cluster: the node or the cable, by name, with the figures that say so.
//!
//! A figure of two nodes comes from parts: the way out of one node, the way into the other and, where they stand on
//! two switches, the way between these. A rate is that of the slowest part, a time the sum of all. So **a part is as
//! good as the best figure that went through it**: a bad node is one whose pairs are all bad, and whose best one says
//! how bad it is. A pair that is worse than its parts has a bad way of its own.
//!
//! Figures are held against those of like pairs, of the same two groups, and a node against the others of its group.
//! One direction is told from both by the rates; for times the clocks tell it, as a round trip has both.

pub(crate) mod beside;
mod jitter;
mod kin;
mod late;
mod loss;
mod odd;
mod rates;
pub(crate) mod usual;

use crate::cluster::{Cluster, Pair};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A node or a pair is slow from this factor on. Between like nodes on one switch, shared computers differ by a
/// fifth.
const SLOW: f64 = 1.6;

/// A node is blamed from so many pairs on: with fewer, it cannot be told from a bad cable.
const FEWEST_PAIRS: usize = 3;

/// The fewest like pairs that a pair is looked at beside.
const FEWEST_LIKE: usize = 2;

/// A direction is slow alone if the other one is not slower than this.
const OTHER_WAY: f64 = 1.3;

/// The size of the messages whose times are judged, in bytes.
pub(crate) const SMALL_BYTES: u32 = 8;

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It could not be measured.
    Unreachable,
    /// Packets are lost.
    Lossy,
    /// Its messages take longer, or its streams are slower, than those of its like.
    Slow,
    /// The times of its small messages scatter.
    Jittery,
    /// Its packets are smaller or larger than those of the others.
    Mtu,
    /// Its clock is wrong.
    Clock,
    /// It is built or set otherwise than its like.
    Different,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    /// Its kind.
    pub kind: Kind,
    /// The node, or the two nodes of a way; for one direction the sender first. For the way between a switch and the
    /// others, all nodes on that switch.
    pub nodes: Vec<String>,
    /// Whether only one direction is bad: from the first of two nodes, or that which the sentence names.
    pub one_way: bool,
    /// How bad: a factor over what is usual, where there is one.
    pub factor: Option<f64>,
    /// The finding with its figures, as a sentence.
    pub sentence: String,
}

/// All faults, the gravest first.
///
/// ```
/// # let text = r#"{ "format": "seatmap-cluster/1", "pairs": [],
/// #   "nodes": [{ "name": "a", "rank": 0, "address": "10.0.0.1" }] }"#;
/// let cluster = seatmap_cluster::Cluster::from_json(text).unwrap();
/// assert!(seatmap_cluster::judge::faults(&cluster).is_empty());
/// ```
#[must_use]
pub fn faults(cluster: &Cluster) -> Vec<Fault> {
    let court = Court::new(cluster);
    let lossy = court.lossy();
    let slow = court.slow();
    let times = court.times(&lossy, &slow);
    let mut faults = court.unreachable();
    faults.extend([lossy, slow, times, court.mtu(), court.clocks(), court.different()].concat());
    faults.sort_by(|a, b| a.kind.cmp(&b.kind).then(b.factor.unwrap_or(0.0).total_cmp(&a.factor.unwrap_or(0.0))));
    faults
}

/// The pairs that looked bad in all looks, by figures too unsteady to show whether they are worse than like pairs, and
/// that have part in no fault: nothing can be said of them while the computers are as busy.
#[must_use]
pub fn unsettled(cluster: &Cluster) -> Vec<[usize; 2]> {
    let found = faults(cluster);
    let is_open = |pair: &&Pair| pair.beside.is_some_and(|beside| beside.is_open());
    let is_told = |pair: &Pair| found.iter().any(|fault| concerns(cluster, fault, pair));
    cluster.pairs.iter().filter(is_open).filter(|pair| !is_told(pair)).map(|pair| pair.nodes).collect()
}

/// The pairs measured that bad figures come from: those of each fault that a busy moment can make.
pub(crate) fn suspects(cluster: &Cluster) -> BTreeSet<[usize; 2]> {
    let found = faults(cluster);
    let is_moody = |fault: &&Fault| matches!(fault.kind, Kind::Slow | Kind::Lossy | Kind::Jittery);
    let pairs = |fault: &Fault| {
        let of_fault = cluster.pairs.iter().filter(|pair| concerns(cluster, fault, pair));
        of_fault.map(|pair| pair.nodes).collect::<Vec<_>>()
    };
    found.iter().filter(is_moody).flat_map(pairs).collect()
}

/// The groups of a pair's nodes, and the measured pairs of these that are not suspect; where they have hardly any,
/// those of all groups, or between any two; where all are suspect, those.
pub(crate) fn like(
    cluster: &Cluster,
    pair: [usize; 2],
    suspects: &BTreeSet<[usize; 2]>,
) -> ([usize; 2], Vec<[usize; 2]>) {
    let group = kin::kin(cluster);
    let block = |[a, b]: [usize; 2]| [group[a].min(group[b]), group[a].max(group[b])];
    let own = block(pair);
    let healthy: Vec<[usize; 2]> =
        cluster.pairs.iter().map(|pair| pair.nodes).filter(|pair| !suspects.contains(pair)).collect();
    let of = |pairs: &[[usize; 2]], is_like: &dyn Fn(&[usize; 2]) -> bool| {
        pairs.iter().copied().filter(is_like).collect::<Vec<[usize; 2]>>()
    };
    let is_inside = |block: [usize; 2]| block[0] == block[1];
    let near = of(&healthy, &|pair| block(*pair) == own);
    let far = of(&healthy, &|pair| is_inside(block(*pair)) == is_inside(own));
    match (near.len() >= FEWEST_LIKE, far.is_empty()) {
        (true, _) => (own, near),
        (false, false) => (own, far),
        (false, true) => {
            let all: Vec<[usize; 2]> = cluster.pairs.iter().map(|pair| pair.nodes).collect();
            (own, of(&all, &|other| *other != pair && block(*other) == own))
        }
    }
}

/// Whether a pair's figures have part in a fault: it has the node, or both, or one of those on the switch.
fn concerns(cluster: &Cluster, fault: &Fault, pair: &Pair) -> bool {
    let of_fault = pair.nodes.into_iter().filter(|node| fault.nodes.contains(&cluster.nodes[*node].name)).count();
    if fault.nodes.len() > 2 { of_fault == 1 } else { of_fault == fault.nodes.len() }
}

/// A cluster, and the group that each node is held against.
pub(crate) struct Court<'a> {
    cluster: &'a Cluster,
    pairs: BTreeMap<[usize; 2], &'a Pair>,
    group: Vec<usize>,
    /// How many nodes each group has.
    sizes: BTreeMap<usize, usize>,
    /// The nodes that stand alone, though most do not.
    alone: BTreeSet<usize>,
}

impl<'a> Court<'a> {
    pub(crate) fn new(cluster: &'a Cluster) -> Self {
        let group = kin::kin(cluster);
        let mut sizes = BTreeMap::new();
        group.iter().for_each(|group| *sizes.entry(*group).or_default() += 1);
        let pairs = cluster.pairs.iter().map(|pair| (pair.nodes, pair)).collect();
        Court { cluster, pairs, alone: kin::lone(&group), group, sizes }
    }

    fn name(&self, node: usize) -> &str {
        &self.cluster.nodes[node].name
    }

    fn fault(&self, kind: Kind, nodes: &[usize], factor: Option<f64>, sentence: String) -> Fault {
        let nodes = nodes.iter().map(|node| self.name(*node).to_owned()).collect();
        Fault { kind, nodes, one_way: false, factor, sentence }
    }

    fn unreachable(&self) -> Vec<Fault> {
        let missing = self.cluster.missing.iter().map(|missing| {
            let sentence = format!("{} could not be measured: {}", missing.nodes.join(" to "), missing.why);
            Fault { kind: Kind::Unreachable, nodes: missing.nodes.clone(), one_way: false, factor: None, sentence }
        });
        missing.collect()
    }
}

#[cfg(test)]
mod tests;
