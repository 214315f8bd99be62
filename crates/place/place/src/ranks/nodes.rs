//! A cluster as places for ranks.

use seatmap_data::machine::{Profile, Square};

/// Nodes with CPUs, and their distances.
#[derive(Clone, Debug)]
pub struct ClusterNodes {
    /// The nodes.
    pub nodes: Vec<RankNode>,
    /// Round trips of [`ClusterNodes::message_bytes`] between two nodes, in nanoseconds; the
    /// diagonal is between two CPUs of a node.
    pub distance_ns: Square<f32>,
    /// The size of the messages, in bytes.
    pub message_bytes: u32,
    /// Whether MPI carried the messages, and not TCP.
    pub by_mpi: bool,
    /// The group of each node, such as its switch.
    pub group: Vec<usize>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct RankNode {
    /// Its host name.
    pub name: String,
    /// The number of online CPUs.
    pub cpus: usize,
    /// Its core distances, if known.
    pub profile: Option<Profile>,
}

impl RankNode {
    /// CPUs with distances, or else all. A measurement inside a cpuset covers fewer than are
    /// online.
    pub fn usable_cpus(&self) -> usize {
        let known = self.profile.as_ref().and_then(|profile| profile.core_distance.as_ref());
        known.map_or(self.cpus, |known| known.pus.len())
    }

    /// Neighbours share as much as possible; else the numerical order.
    pub fn compact(&self) -> Vec<u32> {
        let known = self
            .profile
            .as_ref()
            .and_then(|profile| Some((profile, profile.core_distance.as_ref()?)));
        match known {
            Some((profile, known)) => {
                crate::orders::compact(&profile.topology, &known.pus, &known.median_ns)
            }
            None => (0..self.cpus as u32).collect(),
        }
    }
}
