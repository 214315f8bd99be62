//! The cluster file: nodes, measured pairs and groups.

use crate::facts::NodeConfiguration;
use crate::mpi::Mpi;
use seatmap_data::document::{DocumentError, visible};
use seatmap_data::machine::Profile;
use seatmap_data::statistics::words::counted;
use seatmap_os::cpu_list::MAX_CPU;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Name and version of the format.
pub const FORMAT: &str = "seatmap-cluster/1";

/// The largest number of nodes: a matrix of 8,192 nodes takes half a gigabyte.
pub const MOST_NODES: usize = 8192;

/// Weighted sums of figures up to this stay finite.
const LARGEST: f64 = 1e15;

/// The nodes of a cluster and the connections between them, written by `seatmap cluster measure`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cluster {
    /// Name and version of the format.
    pub format: String,
    /// The day of the measurement, `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The launcher that started the ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher: Option<String>,
    /// The nodes by rank.
    pub nodes: Vec<Node>,
    /// The measured pairs by node.
    pub pairs: Vec<NodePair>,
    /// Groups of near nodes, such as those of one switch, by index.
    #[serde(default)]
    pub groups: Vec<Vec<usize>>,
    /// How well the measured pairs predict the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_back: Option<HeldBack>,
    /// Rates while many nodes send at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<LoadedStreams>,
    /// Costs of MPI messages, if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mpi: Option<Mpi>,
    /// Nodes and pairs that could not be measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Host name; with `--each-rank` also the rank.
    pub name: String,
    /// The rank that measured for this node.
    pub rank: usize,
    /// The address that the other nodes used.
    pub address: String,
    /// CPUs, memory and system.
    #[serde(default)]
    pub facts: NodeConfiguration,
    /// Core distances inside the node, if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

/// The connection between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodePair {
    /// The nodes, smaller index first.
    pub nodes: [usize; 2],
    /// Round trips, ascending by message size.
    pub trips: Vec<Trip>,
    /// The rate of a stream to the second node, and back, in Mbit/s.
    pub rate_mbps: [f64; 2],
    /// The time between small messages of a stream to the second node, and back, in nanoseconds.
    pub gap_ns: [f64; 2],
    /// Segments that each node retransmitted during round trips, out of `segments`.
    pub retransmits: [u64; 2],
    /// About how many segments each node sent during round trips; queues of streams drop segments
    /// even on a healthy link.
    pub segments: [u64; 2],
    /// The second node's clock minus the first's, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_offset_ns: Option<f64>,
    /// The largest packet on the path, in bytes, as seen by the first node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u32>,
    /// Each end's figures about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<[ConnectionEnd; 2]>,
    /// Comparison with like pairs, in files of earlier versions; the doctor ignores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<serde_json::Value>,
}

/// One end's figures about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConnectionEnd {
    /// The largest packet that this end sends to the other, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u32>,
    /// The share of the time (0 to 1) in which this end was ready to run but had no CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_share: Option<f64>,
    /// CPU quotas that stopped this end; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stops: Option<Vec<QuotaStop>>,
}

/// A CPU quota that stopped one end during the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuotaStop {
    /// The control group with the quota.
    pub group: String,
    /// The quota's file on that node.
    pub file: String,
    /// The CPU time per period, in CPUs.
    pub cpus: f64,
    /// The length of a period, in milliseconds.
    pub period_ms: f64,
    /// Whether the file is read-only there, as in most containers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_read_only: bool,
    /// Periods in which the group was stopped.
    pub stopped_periods: u64,
    /// Periods in which the group ran, including those.
    pub periods: u64,
    /// The stopped time, summed over CPUs, in milliseconds.
    pub stopped_ms: f64,
}

impl QuotaStop {
    pub(crate) fn add_to(&self, all: &mut Vec<QuotaStop>) {
        match all.iter_mut().find(|known| known.file == self.file) {
            Some(known) => {
                known.stopped_periods = known.stopped_periods.saturating_add(self.stopped_periods);
                known.periods = known.periods.saturating_add(self.periods);
                known.stopped_ms += self.stopped_ms;
            }
            None => all.push(self.clone()),
        }
    }

    fn is_possible(&self) -> bool {
        is_positive(self.cpus)
            && is_positive(self.period_ms)
            && (0.0..=LARGEST).contains(&self.stopped_ms)
            && self.stopped_periods <= self.periods
    }
}

/// The round trips of messages of one size, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trip {
    /// Message size, each way.
    pub size_bytes: u32,
    /// The median.
    pub median_ns: f64,
    /// The tenth percentile.
    pub p10_ns: f64,
    /// The ninetieth percentile.
    pub p90_ns: f64,
    /// The median's 95 % confidence interval.
    pub ci95_ns: [f64; 2],
    /// The number of trips.
    pub count: usize,
}

/// Pairs predicted before they were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldBack {
    /// The number of these pairs.
    pub pairs: usize,
    /// The median error of their predicted 64 KiB round trips, in percent.
    pub error_percent: f64,
}

/// Simultaneous streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedStreams {
    /// Which nodes send to which.
    pub exchange: StreamPattern,
    /// The streams and their rates.
    pub streams: Vec<Stream>,
}

/// A pattern of simultaneous streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StreamPattern {
    /// Each node exchanges with one of the other half. Groups are kept whole if possible.
    Bisection,
    /// Each node sends to the next, in the order of groups.
    Neighbours,
    /// All nodes send to one.
    Incast,
}

/// One of several simultaneous streams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stream {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// The rate, in Mbit/s.
    pub rate_mbps: f64,
}

/// A node or pair that could not be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// The node names; `rank 3` for a rank that did not connect.
    pub nodes: Vec<String>,
    /// The reason.
    pub why: String,
}

impl NodePair {
    /// The trips of this size.
    pub fn trip(&self, size_bytes: u32) -> Option<&Trip> {
        self.trips.iter().find(|trip| trip.size_bytes == size_bytes)
    }

    pub(crate) fn end_of(&self, node: usize) -> Option<&ConnectionEnd> {
        let at = self.nodes.iter().position(|own| *own == node)?;
        self.ends.as_ref().map(|ends| &ends[at])
    }

    pub(crate) fn keep_better(&mut self, other: NodePair) {
        for (own, other) in self.trips.iter_mut().zip(other.trips) {
            if own.size_bytes == other.size_bytes && other.p90_ns < own.p90_ns {
                *own = other;
            }
        }
        for end in 0..2 {
            // Disturbances only lower rates and lengthen gaps.
            self.rate_mbps[end] = self.rate_mbps[end].max(other.rate_mbps[end]);
            self.gap_ns[end] = self.gap_ns[end].min(other.gap_ns[end]);
            // Only the link loses packets of round trips, so all losses count.
            self.retransmits[end] = self.retransmits[end].saturating_add(other.retransmits[end]);
            self.segments[end] = self.segments[end].saturating_add(other.segments[end]);
            if let (Some(own), Some(other)) = (&mut self.ends, &other.ends) {
                own[end].keep_better(&other[end]);
            }
        }
    }
}

impl ConnectionEnd {
    fn keep_better(&mut self, other: &ConnectionEnd) {
        self.wait_share =
            [self.wait_share, other.wait_share].into_iter().flatten().reduce(f64::min);
        // A busy moment cannot use up a nonexistent quota, so all stops count.
        let Some(others) = &other.stops else { return };
        let own = self.stops.get_or_insert_default();
        others.iter().for_each(|stop| stop.add_to(own));
    }
}

impl Cluster {
    /// Reads a cluster file.
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let cluster: Cluster = seatmap_data::document::read(text, FORMAT)?;
        cluster.check().map_err(DocumentError::Inconsistent)?;
        Ok(cluster)
    }

    /// The cluster as the text of a file.
    pub fn to_json(&self) -> String {
        seatmap_data::document::written(self)
    }

    /// Whether the file claims to be a cluster file of any version.
    pub fn is_cluster(bytes: &[u8]) -> bool {
        seatmap_data::document::is_kind(bytes, "seatmap-cluster/")
    }

    /// Escapes hidden characters, because texts come from other computers.
    pub fn visible(&self) -> Cluster {
        let mut seen = self.clone();
        let names = seen.nodes.iter_mut().flat_map(|node| [&mut node.name, &mut node.address]);
        let missing =
            seen.missing.iter_mut().flat_map(|one| one.nodes.iter_mut().chain([&mut one.why]));
        let library = seen.mpi.as_mut().map(|mpi| &mut mpi.library);
        let texts =
            names.chain(missing).chain(library).chain(&mut seen.launcher).chain(&mut seen.date);
        for text in texts {
            *text = visible(text);
        }
        seen
    }

    pub(crate) fn measured(&self) -> impl Iterator<Item = [usize; 2]> {
        self.pairs.iter().map(|pair| pair.nodes)
    }

    fn check(&self) -> Result<(), String> {
        let nodes = self.nodes.len();
        if nodes == 0 || nodes > MOST_NODES {
            return Err(format!(
                "{nodes}; 1 to {MOST_NODES} are supported",
                nodes = counted(nodes, "node")
            ));
        }
        let mut names = BTreeSet::new();
        // Diagnoses name nodes, so two nodes must not share a name.
        if let Some(twice) = self.nodes.iter().find(|node| !names.insert(&node.name)) {
            return Err(format!("two nodes have the name {}", twice.name));
        }
        for node in &self.nodes {
            if node.facts.cpus > MAX_CPU as usize {
                return Err(format!(
                    "node {} has {}; at most {MAX_CPU} are supported",
                    node.name,
                    counted(node.facts.cpus, "CPU")
                ));
            }
            let profile = node.profile.as_ref().map_or(Ok(()), Profile::check);
            profile.map_err(|why| format!("the profile of node {}: {why}", node.name))?;
        }
        let mut seen = BTreeSet::new();
        for pair in &self.pairs {
            pair.check(nodes)?;
            if !seen.insert(pair.nodes) {
                return Err(format!("nodes {:?} are in two pairs", pair.nodes));
            }
        }
        if !self.loaded.iter().flat_map(|loaded| &loaded.streams).all(|stream| {
            stream.from.max(stream.to) < nodes && (0.0..=LARGEST).contains(&stream.rate_mbps)
        }) {
            return Err(format!(
                "a stream has an impossible rate, or a node not among the {nodes}"
            ));
        }
        let error_percent =
            self.held_back.as_ref().map_or(0.0, |held_back| held_back.error_percent);
        if !(0.0..=LARGEST).contains(&error_percent) {
            return Err(format!("the error of the held-back pairs is {error_percent:e} percent"));
        }
        self.mpi.as_ref().map_or(Ok(()), |mpi| mpi.check(nodes))?;
        let mut grouped = BTreeSet::new();
        match self.groups.iter().flatten().find(|node| **node >= nodes || !grouped.insert(**node)) {
            Some(node) => {
                Err(format!("node {node} of a group is not among the {nodes}, or is in two groups"))
            }
            None => Ok(()),
        }
    }

    /// The group of each node; a node without one is alone in a new group.
    pub fn group_of(&self) -> Vec<usize> {
        let mut group: Vec<Option<usize>> = vec![None; self.nodes.len()];
        for (number, nodes) in self.groups.iter().enumerate() {
            nodes.iter().for_each(|node| group[*node] = Some(number));
        }
        let mut next = self.groups.len();
        group
            .into_iter()
            .map(|known| {
                known.unwrap_or_else(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect()
    }
}

impl NodePair {
    fn check(&self, nodes: usize) -> Result<(), String> {
        let [a, b] = self.nodes;
        if a >= b || b >= nodes {
            return Err(format!(
                "a pair of nodes {a} and {b}: the first must be below the second, and both below \
                 {nodes}"
            ));
        }
        NodePair::check_figures(self.nodes, &self.trips, self.rate_mbps)?;
        let shares = self.ends.iter().flatten().filter_map(|end| end.wait_share);
        if !shares.into_iter().all(|share| (0.0..=1.0).contains(&share)) {
            return Err(format!("a share of waiting of nodes {a} and {b} is not between 0 and 1"));
        }
        let mut stops = self.ends.iter().flatten().flat_map(|end| end.stops.iter().flatten());
        if !stops.all(QuotaStop::is_possible) {
            return Err(format!("a quota on nodes {a} and {b} has impossible figures"));
        }
        if self.gap_ns.into_iter().all(is_positive) {
            Ok(())
        } else {
            Err(format!("a gap of nodes {a} and {b} is not a positive number up to {LARGEST:e}"))
        }
    }

    pub(crate) fn check_figures(
        [a, b]: [usize; 2],
        trips: &[Trip],
        rate_mbps: [f64; 2],
    ) -> Result<(), String> {
        let times = trips.iter().flat_map(|trip| {
            [trip.median_ns, trip.p10_ns, trip.p90_ns].into_iter().chain(trip.ci95_ns)
        });
        if !times.chain(rate_mbps).all(is_positive) {
            return Err(format!(
                "a time or a rate of nodes {a} and {b} is not a positive number up to {LARGEST:e}"
            ));
        }
        let ascending = trips.windows(2).all(|two| two[0].size_bytes < two[1].size_bytes);
        if trips.is_empty() || !ascending {
            return Err(format!(
                "the round trips of nodes {a} and {b} are not in the order of their sizes"
            ));
        }
        Ok(())
    }
}

fn is_positive(value: f64) -> bool {
    value > 0.0 && value <= LARGEST
}

#[cfg(test)]
mod tests;
