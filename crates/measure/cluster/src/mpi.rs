//! The same through the site's own MPI: a small program that every rank builds with its node's
//! `mpicc`, from the source in its own binary, and starts in its place. TCP is not what MPI uses on
//! a fabric. No program travels: rank 0 says which pairs are measured, and when.
//!
//! Seatmap itself does not call MPI. The launcher's variables and open files make the child of a
//! rank that rank.

mod build;
mod output;
mod run;

pub use build::{MpiProgram, build, compiler};
pub(crate) use output::read;
pub(crate) use run::{MpiTask, plan, run};

use crate::cluster::{Cluster, NodePair, Trip};
use seatmap_data::statistics::words::counted;
use seatmap_os::limited::LimitedError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The most that a program built here may print, in bytes: a line of a pair has less than a
/// kilobyte.
pub(crate) const MOST_PRINTED: u64 = 256 << 20;

/// The costs of messages by MPI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mpi {
    /// The library and its version, as it says itself.
    pub library: String,
    /// The pairs that were measured.
    pub pairs: Vec<MpiPair>,
    /// Operations of all nodes together.
    #[serde(default)]
    pub collectives: Vec<CollectiveTime>,
}

/// The way between two nodes by MPI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MpiPair {
    /// The nodes, the smaller index first.
    pub nodes: [usize; 2],
    /// Round trips by the size of the message, ascending.
    pub trips: Vec<Trip>,
    /// The rate of a stream of messages of 1 MiB from the first node to the second, and back, in
    /// Mbit/s.
    pub rate_mbps: [f64; 2],
}

/// An operation of all nodes together; its time is that of the slowest, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectiveTime {
    /// The operation.
    #[serde(rename = "collective")]
    pub operation: CollectiveOperation,
    /// The bytes of each node, or of each to each other.
    pub size_bytes: u32,
    /// The median.
    pub median_ns: f64,
    /// The tenth percentile.
    pub p10_ns: f64,
    /// The ninetieth percentile.
    pub p90_ns: f64,
    /// The number of times.
    pub count: usize,
}

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CollectiveOperation {
    /// `MPI_Barrier`.
    Barrier,
    /// `MPI_Bcast`.
    Broadcast,
    /// `MPI_Allreduce` of sums of doubles.
    Allreduce,
    /// `MPI_Alltoall`.
    Alltoall,
}

/// Why there are no figures by MPI.
#[derive(Debug, thiserror::Error)]
pub enum MpiError {
    /// There is no such compiler.
    #[error(
        "'{command}' cannot be started: --mpi builds a small program with the MPI's compiler; load \
         its module, or name one with --mpicc"
    )]
    NoCompiler {
        /// The command.
        command: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The compiler's command has a quote without an end.
    #[error("the command of the MPI's compiler ends within quotes: {0}")]
    Quotes(String),
    /// It refused the program.
    #[error("'{command}' does not build the program for MPI: {said}")]
    Compiler {
        /// The command.
        command: String,
        /// The first lines that it said.
        said: String,
    },
    /// The compiler did not end.
    #[error(transparent)]
    Late(LimitedError),
    /// A file could not be written or read.
    #[error("the program for MPI cannot be kept")]
    File(#[from] std::io::Error),
    /// A rank has no such program.
    #[error("on {node}: {why}")]
    Unbuilt {
        /// The node.
        node: String,
        /// Why.
        why: String,
    },
    /// A rank could not run it to its end.
    #[error("on {node}, the program for MPI failed: {why}")]
    Failed {
        /// The node.
        node: String,
        /// Why.
        why: String,
    },
    /// Its output cannot be read.
    #[error("the output of the program for MPI cannot be read: {0}")]
    Printed(String),
    /// Each rank was a job of its own.
    #[error(
        "{0}: this MPI is not the launcher's, or the launcher was not told of it (srun --mpi=list \
         says what it knows)"
    )]
    Apart(String),
}

impl Mpi {
    /// Whether the figures can be those of a cluster of so many nodes.
    pub(crate) fn check(&self, nodes: usize) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for pair in &self.pairs {
            let [a, b] = pair.nodes;
            if a >= b || b >= nodes || !seen.insert(pair.nodes) {
                return Err(format!(
                    "a pair of nodes {a} and {b} by MPI stands there twice, or is none of {nodes}",
                    nodes = counted(nodes, "node")
                ));
            }
            NodePair::check_figures(pair.nodes, &pair.trips, pair.rate_mbps)?;
        }
        if self.collectives.iter().all(|one| {
            [one.median_ns, one.p10_ns, one.p90_ns]
                .into_iter()
                .all(|ns| ns.is_finite() && ns >= 0.0)
        }) {
            Ok(())
        } else {
            Err("the time of a collective operation is not a number from 0".to_owned())
        }
    }
}

impl Cluster {
    /// The cluster with the round trips and rates of MPI in place of those of TCP; `None` where
    /// they were not measured for all pairs that TCP was.
    #[must_use]
    pub fn by_mpi(&self) -> Option<Cluster> {
        let mpi = self.mpi.as_ref()?;
        let pairs = self.pairs.iter().map(|pair| {
            let found = mpi.pairs.iter().find(|found| found.nodes == pair.nodes)?;
            Some(NodePair {
                trips: found.trips.clone(),
                rate_mbps: found.rate_mbps,
                ..pair.clone()
            })
        });
        let pairs = pairs.collect::<Option<Vec<NodePair>>>()?;
        (!pairs.is_empty()).then(|| Cluster { pairs, ..self.clone() })
    }
}
