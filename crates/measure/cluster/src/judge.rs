//! Diagnosis of a cluster: names bad nodes and cables with the figures that show it.
//!
//! The figures of a pair depend on the link out of one node, the link into the other and, between
//! switches, the path between these. A rate is that of the slowest part, a time the sum of all.
//! Noise never improves a figure, so a part is as good as the best path through it and is bad only
//! if all of its paths are.

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

use crate::choice::pair;
use crate::cluster::{Cluster, NodePair, QuotaStop};
use network::HealthyNetwork;
use part::FaultLocation;
use seatmap_data::document::visible;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A pair is slow from this factor on. Like nodes on one switch differ by a fifth on shared
/// computers.
const SLOW: f64 = 1.6;

/// At most this many pairs of a bad part are measured again.
const WITNESSES: usize = 5;

const FEWEST_LIKE: usize = 2;

pub(crate) const SMALL_BYTES: u32 = 8;

/// Kinds of faults, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterFaultKind {
    /// It could not be measured.
    Unreachable,
    /// Its process gets too little CPU time.
    Starved,
    /// It loses packets.
    Lossy,
    /// Its messages take longer, or its streams are slower, than usual.
    Slow,
    /// The times of its small messages scatter.
    Jittery,
    /// Its packet size differs from that of the others.
    Mtu,
    /// Its clock is wrong.
    Clock,
    /// Its hardware or settings differ from those of similar nodes.
    Different,
}

/// A fault of a node, pair or switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterFault {
    /// The kind of fault.
    pub kind: ClusterFaultKind,
    /// One node or the two of a connection, the sender first if one direction is bad. For a
    /// switch's uplink, all nodes on this switch.
    pub nodes: Vec<String>,
    /// Whether only one direction is bad: from the first of two nodes, or the direction in the
    /// sentence.
    pub one_way: bool,
    /// How bad it is: a factor relative to the usual figure, if there is one.
    pub factor: Option<f64>,
    /// The fault and its figures in one sentence.
    pub sentence: String,
    #[serde(skip)]
    pub(crate) place: Option<FaultLocation>,
}

/// All faults of a cluster, the gravest first.
///
/// ```
/// # let text = r#"{ "format": "seatmap-cluster/1", "pairs": [],
/// #   "nodes": [{ "name": "a", "rank": 0, "address": "10.0.0.1" }] }"#;
/// let cluster = seatmap_cluster::Cluster::from_json(text).unwrap();
/// assert!(seatmap_cluster::judge::faults(&cluster).is_empty());
/// ```
pub fn faults(cluster: &Cluster) -> Vec<ClusterFault> {
    ClusterJudgement::of(cluster).faults
}

/// The faults of a cluster as a document, `seatmap-cluster-faults/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterFaults<'a> {
    format: &'static str,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of measured pairs.
    pub pairs: usize,
    /// The faults, the gravest first.
    pub faults: Vec<ClusterFault>,
    /// Pairs too noisy to judge.
    pub unsettled: Vec<[&'a str; 2]>,
}

impl<'a> ClusterFaults<'a> {
    /// Judges a cluster.
    pub fn of(cluster: &'a Cluster) -> Self {
        let unsettled = unsettled(cluster).into_iter();
        ClusterFaults {
            format: "seatmap-cluster-faults/1",
            nodes: cluster.nodes.len(),
            pairs: cluster.pairs.len(),
            faults: faults(cluster),
            unsettled: unsettled.map(|pair| pair.map(|at| &*cluster.nodes[at].name)).collect(),
        }
    }
}

pub(crate) struct ClusterJudgement {
    pub faults: Vec<ClusterFault>,
    group: Vec<usize>,
}

impl ClusterJudgement {
    pub fn of(cluster: &Cluster) -> Self {
        let items = figures::items(cluster);
        let court = Court::new(cluster, HealthyNetwork::new(&items, groups::groups(cluster)));
        let faults = court.faults();
        ClusterJudgement { faults, group: court.network.group }
    }

    fn is_concerned(&self, fault: &ClusterFault, pair: [usize; 2]) -> bool {
        fault.place.is_some_and(|place| place.part.covers(&self.group, pair))
    }

    /// Pairs of faults that a busy moment can imitate.
    pub fn suspects(&self, cluster: &Cluster) -> BTreeSet<[usize; 2]> {
        self.moody().flat_map(|fault| self.pairs_of(cluster, fault)).collect()
    }

    /// A few suspects of each part, to distinguish a fault from a busy moment.
    pub fn witnesses(&self, cluster: &Cluster) -> BTreeSet<[usize; 2]> {
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
        cluster.measured().filter(|pair| self.is_concerned(fault, *pair)).collect()
    }

    /// Healthy pairs of the same groups; if too few, all healthy pairs within groups, or between
    /// groups; if none, all pairs of the same groups, even the pair itself.
    pub fn like(
        &self,
        cluster: &Cluster,
        pair: [usize; 2],
        suspects: &BTreeSet<[usize; 2]>,
    ) -> ([usize; 2], Vec<[usize; 2]>) {
        let own = self.block(pair);
        let is_near = |pair: &[usize; 2]| self.block(*pair) == own;
        let healthy = || cluster.measured().filter(|pair| !suspects.contains(pair));
        let near: Vec<[usize; 2]> = healthy().filter(is_near).collect();
        let far = healthy().filter(|pair| is_inside(self.block(*pair)) == is_inside(own));
        let far: Vec<[usize; 2]> = far.collect();
        let like = match (near.len() >= FEWEST_LIKE, far.is_empty()) {
            (true, _) => near,
            (false, false) => far,
            (false, true) => cluster.measured().filter(is_near).collect(),
        };
        (own, like)
    }

    fn block(&self, [a, b]: [usize; 2]) -> [usize; 2] {
        pair(self.group[a], self.group[b])
    }
}

fn is_inside(block: [usize; 2]) -> bool {
    block[0] == block[1]
}

/// Pairs that always looked bad but are too unsteady to judge.
pub fn unsettled(cluster: &Cluster) -> Vec<[usize; 2]> {
    let judgement = ClusterJudgement::of(cluster);
    let open = cluster
        .open_pairs()
        .filter(|pair| !judgement.faults.iter().any(|fault| judgement.is_concerned(fault, *pair)));
    open.collect()
}

pub(crate) struct Court<'a> {
    cluster: &'a Cluster,
    pairs: BTreeMap<[usize; 2], &'a NodePair>,
    network: HealthyNetwork<'a>,
    stops: BTreeMap<usize, QuotaStop>,
}

impl<'a> Court<'a> {
    fn new(cluster: &'a Cluster, network: HealthyNetwork<'a>) -> Self {
        let pairs = cluster.pairs.iter().map(|pair| (pair.nodes, pair)).collect();
        Court { cluster, pairs, network, stops: stopped::stops(cluster) }
    }

    fn faults(&self) -> Vec<ClusterFault> {
        let mut faults = self.unreachable();
        faults.extend(self.stopped());
        let causes = self.causes();
        let causes = causes.iter().filter_map(|cause| self.fault_of(cause));
        // A node stopped by a quota already has a fault.
        faults.extend(causes.filter(|fault| !self.is_by_stops(fault)));
        faults.extend([self.mtu(), self.clocks(), self.different()].concat());
        // Names and facts come from other computers.
        faults.iter_mut().for_each(|fault| fault.sentence = visible(&fault.sentence));
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
