//! A measured cluster as places for the ranks of a job.

use crate::choice::SIZE_BYTES;
use crate::cluster::{Cluster, Node};
use crate::fit::SymmetricMetric;
use seatmap_data::machine::Square;
use seatmap_data::pattern::Pattern;
use seatmap_data::statistics::{Ordered, median};
use seatmap_place::ranks::ClusterNodes;

/// Assumed without measured core distances, in ns: about that of two cores of one package.
const INSIDE_NS: f64 = 100.0;

/// The mean message size of a pattern in bytes. Generated patterns have messages of one byte; the
/// default is then the size that best separates near nodes from far ones.
pub fn message_bytes(pattern: &Pattern) -> f64 {
    let bytes: f64 = pattern.edges.iter().map(|edge| edge.bytes).sum();
    let messages: f64 = pattern.edges.iter().map(|edge| edge.messages).sum();
    let mean = bytes / messages;
    if mean > 1.0 { mean } else { f64::from(SIZE_BYTES) }
}

/// Why a cluster has no places for ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPlaces {
    /// No pair of nodes was measured.
    #[error("no pair of nodes was measured; run 'seatmap cluster measure'")]
    NoPairs,
    /// Several ranks of one node count as nodes.
    #[error(
        "{0} and {1} are the same node (measured with --each-rank); measure without --each-rank to \
         place ranks on nodes"
    )]
    EachRank(String, String),
}

impl Cluster {
    /// Round trips are of the message size nearest to `message_bytes`, by MPI if all pairs have
    /// them. Unmeasured pairs are predicted.
    ///
    /// # Errors
    /// [`NoPlaces`].
    pub fn places(&self, message_bytes: f64) -> Result<ClusterNodes, NoPlaces> {
        match self.by_mpi() {
            Some(by_mpi) => {
                Ok(ClusterNodes { by_mpi: true, ..by_mpi.places_by_trips(message_bytes)? })
            }
            None => self.places_by_trips(message_bytes),
        }
    }

    fn places_by_trips(&self, message_bytes: f64) -> Result<ClusterNodes, NoPlaces> {
        self.check_nodes()?;
        let size_bytes = self.measured_size(message_bytes);
        let fit = match self.nodes.len() {
            1 => None,
            _ => Some(self.fit(SymmetricMetric::Trip(size_bytes)).ok_or(NoPlaces::NoPairs)?),
        };
        Ok(ClusterNodes {
            nodes: self.nodes.iter().map(place).collect(),
            distance_ns: Square::from_fn(self.nodes.len(), |a, b| match &fit {
                Some(fit) if a != b => fit.value(a, b) as f32,
                _ => inside_ns(&self.nodes[a]) as f32,
            }),
            message_bytes: size_bytes,
            by_mpi: false,
            group: self.group_of(),
        })
    }

    fn check_nodes(&self) -> Result<(), NoPlaces> {
        let mut hosts = std::collections::BTreeMap::new();
        for node in &self.nodes {
            // With --each-rank, several nodes share a host's address.
            if let Some(other) = hosts.insert(&node.address, &node.name) {
                return Err(NoPlaces::EachRank(other.clone(), node.name.clone()));
            }
        }
        Ok(())
    }

    fn measured_size(&self, wanted_bytes: f64) -> u32 {
        let sizes = self.pairs.iter().flat_map(|pair| &pair.trips).map(|trip| trip.size_bytes);
        let mut sizes: Vec<u32> = sizes.collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
            .into_iter()
            .min_by_key(|size| {
                Ordered((f64::from(*size).max(1.0) / wanted_bytes.max(1.0)).ln().abs())
            })
            .unwrap_or(SIZE_BYTES)
    }
}

fn place(node: &Node) -> seatmap_place::ranks::RankNode {
    seatmap_place::ranks::RankNode {
        name: node.name.clone(),
        cpus: node.facts.cpus,
        profile: node.profile.clone(),
    }
}

fn inside_ns(node: &Node) -> f64 {
    let known = node.profile.as_ref().and_then(|profile| profile.core_distance.as_ref());
    let distances = known.into_iter().flat_map(|known| known.median_ns.pairs());
    median(distances.map(|(_, _, ns)| ns)).unwrap_or(INSIDE_NS)
}
