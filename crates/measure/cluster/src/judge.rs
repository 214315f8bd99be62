//! The faults of a cluster: the node or the cable, by name, with the figures that say so.
//!
//! A figure of two nodes comes from parts: the way out of one node, the way into the other and, if
//! they are on two switches, the way between these. A rate is that of the slowest part, a time the
//! sum of all. Noise makes no figure better than its way, so a part is as good as the best of its
//! ways, and it is bad only if all of them are. The part that explains most figures comes first,
//! then the one that explains most of the rest, and last single pairs.
//!
//! | module | is |
//! |---|---|
//! | `figures` | what a pair says of its ways and ends |
//! | `part` | the parts of a cluster, and which ways use them |
//! | `groups` | the group that each node is held against |
//! | `network` | the usual figures, for nodes in given groups |
//! | `effects` | what a part does to figures, and whether that is bad enough to be told |
//! | `explain` | the bad parts, those first that explain most figures |
//! | `sentences` | the words for it |
//! | `stopped` | nodes that a quota of CPU time stopped |
//! | `odd` | what a node's own figures show: packets, clock, facts |
//! | `unreachable` | nodes and pairs that could not be measured |
//!
//! One direction is told from both by the rates; for times the clocks tell it, as a round trip has
//! both.

pub(crate) mod beside;
mod effects;
mod explain;
pub(crate) mod figures;
mod groups;
mod network;
mod odd;
pub(crate) mod part;
mod sentences;
mod stopped;
pub(crate) mod unreachable;

use crate::cluster::{Cluster, NodePair, QuotaStop};
use network::HealthyNetwork;
use part::FaultLocation;
use seatmap_data::document::visible;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A pair is slow from this factor on. Between like nodes on one switch, shared computers differ by
/// a fifth.
const SLOW: f64 = 1.6;

/// Pairs of a bad part that are measured again, at most.
const WITNESSES: usize = 5;

/// The fewest like pairs that a pair is looked at beside.
const FEWEST_LIKE: usize = 2;

/// The size of the messages whose times are judged, in bytes.
pub(crate) const SMALL_BYTES: u32 = 8;

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterFaultKind {
    /// It could not be measured.
    Unreachable,
    /// Its process gets too little of its CPUs.
    Starved,
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
pub struct ClusterFault {
    /// Its kind.
    pub kind: ClusterFaultKind,
    /// The node, or the two nodes of a way; for one direction the sender first. For the way between
    /// a switch and the others, all nodes on that switch.
    pub nodes: Vec<String>,
    /// Whether only one direction is bad: from the first of two nodes, or that which the sentence
    /// names.
    pub one_way: bool,
    /// How bad: a factor over what is usual, where there is one.
    pub factor: Option<f64>,
    /// The finding with its figures, as a sentence.
    pub sentence: String,
    /// The part that is bad, where the figures of pairs show it.
    #[serde(skip)]
    pub(crate) place: Option<FaultLocation>,
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
pub fn faults(cluster: &Cluster) -> Vec<ClusterFault> {
    ClusterJudgement::of(cluster).faults
}

/// The faults of a cluster as they are written: `seatmap-cluster-faults/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterFaults<'a> {
    format: &'static str,
    /// Nodes of the cluster.
    pub nodes: usize,
    /// Pairs of nodes that were measured.
    pub pairs: usize,
    /// The faults, the gravest first.
    pub faults: Vec<ClusterFault>,
    /// Pairs of nodes that were too noisy to judge.
    pub unsettled: Vec<[&'a str; 2]>,
}

impl<'a> ClusterFaults<'a> {
    /// Judges a cluster.
    #[must_use]
    pub fn of(cluster: &'a Cluster) -> Self {
        ClusterFaults {
            format: "seatmap-cluster-faults/1",
            nodes: cluster.nodes.len(),
            pairs: cluster.pairs.len(),
            faults: faults(cluster),
            unsettled: unsettled(cluster)
                .into_iter()
                .map(|pair| pair.map(|node| cluster.nodes[node].name.as_str()))
                .collect(),
        }
    }
}

/// The faults of a cluster, and the groups by which they were found.
pub(crate) struct ClusterJudgement {
    pub faults: Vec<ClusterFault>,
    /// The group that each node is held against.
    group: Vec<usize>,
}

impl ClusterJudgement {
    pub(crate) fn of(cluster: &Cluster) -> Self {
        let items = figures::items(cluster);
        let court = Court::new(cluster, HealthyNetwork::new(&items, groups::groups(cluster)));
        let faults = court.faults();
        ClusterJudgement { faults, group: court.network.group }
    }

    fn is_concerned(&self, fault: &ClusterFault, pair: [usize; 2]) -> bool {
        fault.place.is_some_and(|place| place.part.covers(&self.group, pair))
    }

    /// The pairs measured that bad figures come from: those of each fault that a busy moment can
    /// make.
    pub(crate) fn suspects(&self, cluster: &Cluster) -> BTreeSet<[usize; 2]> {
        self.moody().flat_map(|fault| self.pairs_of(cluster, fault)).collect()
    }

    /// Some of them, by which a fault can be told from a busy moment: of a part with many pairs, a
    /// few, spread over all.
    pub(crate) fn witnesses(&self, cluster: &Cluster) -> BTreeSet<[usize; 2]> {
        self.moody()
            .flat_map(|fault| {
                let pairs = self.pairs_of(cluster, fault);
                let step = pairs.len().div_ceil(WITNESSES).max(1);
                pairs.into_iter().step_by(step).collect::<Vec<[usize; 2]>>()
            })
            .collect()
    }

    fn moody(&self) -> impl Iterator<Item = &ClusterFault> {
        self.faults.iter().filter(|fault| {
            matches!(
                fault.kind,
                ClusterFaultKind::Starved
                    | ClusterFaultKind::Slow
                    | ClusterFaultKind::Lossy
                    | ClusterFaultKind::Jittery
            )
        })
    }

    fn pairs_of(&self, cluster: &Cluster, fault: &ClusterFault) -> Vec<[usize; 2]> {
        cluster
            .pairs
            .iter()
            .map(|pair| pair.nodes)
            .filter(|pair| self.is_concerned(fault, *pair))
            .collect()
    }

    /// The groups of a pair's nodes, and the measured pairs of these that are not suspect; where
    /// they have hardly any, those of all groups, or between any two; where all are suspect, those,
    /// the pair itself among them.
    pub(crate) fn like(
        &self,
        cluster: &Cluster,
        pair: [usize; 2],
        suspects: &BTreeSet<[usize; 2]>,
    ) -> ([usize; 2], Vec<[usize; 2]>) {
        let own = self.block(pair);
        let healthy: Vec<[usize; 2]> = cluster
            .pairs
            .iter()
            .map(|pair| pair.nodes)
            .filter(|pair| !suspects.contains(pair))
            .collect();
        let near: Vec<[usize; 2]> =
            healthy.iter().copied().filter(|pair| self.block(*pair) == own).collect();
        let far: Vec<[usize; 2]> = healthy
            .into_iter()
            .filter(|pair| is_inside(self.block(*pair)) == is_inside(own))
            .collect();
        match (near.len() >= FEWEST_LIKE, far.is_empty()) {
            (true, _) => (own, near),
            (false, false) => (own, far),
            (false, true) => {
                let all = cluster.pairs.iter().map(|other| other.nodes);
                (own, all.filter(|other| self.block(*other) == own).collect())
            }
        }
    }

    /// The groups of a pair's nodes, the lower number first.
    fn block(&self, [a, b]: [usize; 2]) -> [usize; 2] {
        let group = &self.group;
        [group[a].min(group[b]), group[a].max(group[b])]
    }
}

/// Whether the pairs of a block stand inside one group.
fn is_inside(block: [usize; 2]) -> bool {
    block[0] == block[1]
}

/// The pairs that looked bad in all looks, by figures too unsteady to show whether they are worse
/// than like pairs, and that have part in no fault: nothing can be said of them while the computers
/// are as busy.
#[must_use]
pub fn unsettled(cluster: &Cluster) -> Vec<[usize; 2]> {
    let judgement = ClusterJudgement::of(cluster);
    cluster
        .pairs
        .iter()
        .filter(|pair| pair.beside.is_some_and(|beside| beside.is_open()))
        .filter(|pair| {
            !judgement.faults.iter().any(|fault| judgement.is_concerned(fault, pair.nodes))
        })
        .map(|pair| pair.nodes)
        .collect()
}

/// A cluster, and the usual figures of its network.
pub(crate) struct Court<'a> {
    cluster: &'a Cluster,
    pairs: BTreeMap<[usize; 2], &'a NodePair>,
    network: HealthyNetwork<'a>,
    /// The quota that stopped each node.
    stops: BTreeMap<usize, QuotaStop>,
}

impl<'a> Court<'a> {
    fn new(cluster: &'a Cluster, network: HealthyNetwork<'a>) -> Self {
        let pairs = cluster.pairs.iter().map(|pair| (pair.nodes, pair)).collect();
        Court { cluster, pairs, network, stops: stopped::stops(cluster) }
    }

    /// All faults, the gravest first.
    fn faults(&self) -> Vec<ClusterFault> {
        let mut faults = self.unreachable();
        faults.extend(self.stopped());
        let causes = self.causes();
        let causes = causes.iter().filter_map(|cause| self.fault_of(cause));
        // A quota that stopped a node has its fault already.
        faults.extend(causes.filter(|fault| !self.is_by_stops(fault)));
        faults.extend([self.mtu(), self.clocks(), self.different()].concat());
        // Names and facts come from other computers.
        faults.iter_mut().for_each(|fault| fault.sentence = visible(&fault.sentence));
        // The kinds are declared from the gravest on.
        faults.sort_by(|a, b| {
            a.kind.cmp(&b.kind).then(b.factor.unwrap_or(0.0).total_cmp(&a.factor.unwrap_or(0.0)))
        });
        faults
    }

    fn name(&self, node: usize) -> &str {
        &self.cluster.nodes[node].name
    }

    fn fault(
        &self,
        kind: ClusterFaultKind,
        nodes: &[usize],
        factor: Option<f64>,
        sentence: String,
    ) -> ClusterFault {
        let nodes = nodes.iter().map(|node| self.name(*node).to_owned()).collect();
        ClusterFault { kind, nodes, one_way: false, factor, sentence, place: None }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod simulated_tests;
