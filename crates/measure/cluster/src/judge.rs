//! Diagnosis of a cluster: names bad nodes and cables with the figures that show it.
//!
//! The figures of a pair depend on the link out of one node, the link into the other and, between
//! switches, the path between these. A rate is that of the slowest part, a time the sum of all.
//! Noise never improves a figure, so a part is as good as the best path through it and is bad only
//! if all of its paths are. Of losses and scatters, the median counts.

mod groups;
mod odd;
mod part;
mod path;
mod process;
mod sentences;
mod symptom;
pub(crate) mod unreachable;

use crate::cluster::Cluster;
use crate::topology::short;
use part::{NetworkPart, NetworkParts};
use seatmap_data::document::visible;
use seatmap_data::statistics::Ordered;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// At most this many pairs of a bad part are measured again.
const WITNESSES: usize = 5;

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
    /// Kind of fault.
    pub kind: ClusterFaultKind,
    /// One node or the two of a connection, the sender first if one direction is bad. For a
    /// switch's uplink, all nodes on this switch.
    pub nodes: Vec<String>,
    /// Whether only one direction is bad: from the first of two nodes, or the direction in the
    /// sentence.
    pub one_way: bool,
    /// How bad it is: a factor relative to the usual figure, if any.
    pub factor: Option<f64>,
    /// Fault and its figures in one sentence.
    pub sentence: String,
    #[serde(skip)]
    part: Option<NetworkPart>,
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
pub struct ClusterFaults {
    format: &'static str,
    /// Nodes.
    pub nodes: usize,
    /// Measured pairs.
    pub pairs: usize,
    /// Faults, the gravest first.
    pub faults: Vec<ClusterFault>,
}

impl ClusterFaults {
    /// Judges a cluster.
    pub fn of(cluster: &Cluster) -> Self {
        ClusterFaults {
            format: "seatmap-cluster-faults/1",
            nodes: cluster.nodes.len(),
            pairs: cluster.pairs.len(),
            faults: faults(cluster),
        }
    }
}

pub(crate) struct ClusterJudgement {
    pub faults: Vec<ClusterFault>,
    parts: NetworkParts,
}

impl ClusterJudgement {
    pub fn of(cluster: &Cluster) -> Self {
        let parts = NetworkParts::new(groups::groups(cluster));
        let (starved, mut faults) = process::starved(cluster);
        let causes = symptom::causes(&parts, path::paths(cluster, &parts, &starved));
        faults.extend(causes.iter().map(|cause| sentences::fault(cluster, &parts, cause)));
        faults.extend([unreachable::faults(cluster), odd::clocks(cluster)].concat());
        faults.extend(odd::different(cluster));
        // Names and facts come from other computers.
        faults.iter_mut().for_each(|fault| fault.sentence = visible(&fault.sentence));
        faults.sort_by_key(|fault| (fault.kind, Reverse(Ordered(fault.factor.unwrap_or(0.0)))));
        ClusterJudgement { faults, parts }
    }

    /// A few pairs of each bad part, to distinguish a fault from a busy moment.
    pub fn witnesses(&self, cluster: &Cluster) -> BTreeSet<[usize; 2]> {
        let bad = self.faults.iter().filter_map(|fault| fault.part);
        let few = bad.flat_map(|bad| {
            let is_on =
                |pair: &[usize; 2]| self.parts.on(*pair).iter().any(|(part, _)| *part == bad);
            let pairs: Vec<[usize; 2]> = cluster.measured().filter(is_on).collect();
            let step = pairs.len().div_ceil(WITNESSES).max(1);
            pairs.into_iter().step_by(step)
        });
        few.collect()
    }
}

fn name(cluster: &Cluster, node: usize) -> &str {
    &cluster.nodes[node].name
}

fn names(cluster: &Cluster, nodes: &[usize]) -> String {
    short(&nodes.iter().map(|node| name(cluster, *node)).collect::<Vec<_>>())
}

/// A fault of these nodes themselves.
fn fault(cluster: &Cluster, kind: ClusterFaultKind, nodes: &[usize], what: &str) -> ClusterFault {
    ClusterFault {
        kind,
        nodes: nodes.iter().map(|node| name(cluster, *node).to_owned()).collect(),
        one_way: false,
        factor: None,
        sentence: format!("{}: {what}", names(cluster, nodes)),
        part: None,
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod simulated_tests;
