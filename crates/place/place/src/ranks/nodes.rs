//! A cluster as places for ranks.

use seatmap_data::machine::{Profile, Square};

/// Nodes with CPUs, and how far apart they are.
#[derive(Clone, Debug)]
pub struct ClusterNodes {
    /// The nodes.
    pub nodes: Vec<RankNode>,
    /// Round trips of a message of [`ClusterNodes::message_bytes`] between two nodes, in
    /// nanoseconds; on the diagonal that between two CPUs of the node.
    pub distance_ns: Square<f32>,
    /// The size of the message.
    pub message_bytes: u32,
    /// Whether they were measured through MPI, and not over TCP.
    pub by_mpi: bool,
    /// The group of each node, such as its switch.
    pub group: Vec<usize>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct RankNode {
    /// Its host name.
    pub name: String,
    /// How many CPUs are online.
    pub cpus: usize,
    /// Its core distances, where they are known.
    pub profile: Option<Profile>,
}

impl RankNode {
    /// How many CPUs ranks may sit on: those with distances, where they are known. A process that
    /// measured them in a cpuset had fewer than are online.
    #[must_use]
    pub fn usable_cpus(&self) -> usize {
        let known = self.profile.as_ref().and_then(|profile| profile.core_distance.as_ref());
        known.map_or(self.cpus, |known| known.pus.len())
    }

    /// The CPUs in an order in which neighbours share as much as possible; the numbers where
    /// nothing else is known.
    #[must_use]
    pub fn compact(&self) -> Vec<u32> {
        let known = self
            .profile
            .as_ref()
            .and_then(|profile| Some((profile, profile.core_distance.as_ref()?)));
        match known {
            Some((profile, known)) => {
                crate::orders::compact(&profile.topology, &known.pus, &known.median_ns)
            }
            // A plan needs numbers; the kernel counts CPUs from 0 without holes on most computers.
            None => (0..self.cpus as u32).collect(),
        }
    }
}
