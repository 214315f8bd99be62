//! The same measurement through the site's own MPI, because MPI does not use TCP on a fabric. Every
//! rank builds a small program from the binary's source with its node's `mpicc` and runs it as this
//! rank. Rank 0 says which pairs are measured, and when.
//!
//! A child inherits the launcher's variables and open files, and so acts as its parent's rank.

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

/// In bytes; a pair takes less than a kilobyte.
pub(crate) const MOST_PRINTED: u64 = 256 << 20;

/// The costs of messages by MPI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mpi {
    /// The MPI library and its version, as it reports itself.
    pub library: String,
    /// The measured pairs.
    pub pairs: Vec<MpiPair>,
    /// Collective operations of all nodes.
    #[serde(default)]
    pub collectives: Vec<CollectiveTime>,
}

/// The connection between two nodes by MPI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MpiPair {
    /// The nodes, smaller index first.
    pub nodes: [usize; 2],
    /// Round trips, ascending by message size.
    pub trips: Vec<Trip>,
    /// The rate of a stream of 1 MiB messages to the second node, and back, in Mbit/s.
    pub rate_mbps: [f64; 2],
}

/// The time of a collective operation on its slowest node, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectiveTime {
    /// The operation.
    #[serde(rename = "collective")]
    pub operation: CollectiveOperation,
    /// Bytes of each node; for `alltoall`, from each node to each other.
    pub size_bytes: u32,
    /// The median.
    pub median_ns: f64,
    /// The tenth percentile.
    pub p10_ns: f64,
    /// The ninetieth percentile.
    pub p90_ns: f64,
    /// The number of runs.
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
    /// The compiler cannot be started.
    #[error(
        "'{command}' cannot be started: --mpi needs the MPI compiler; load its module, or name one \
         with --mpicc"
    )]
    NoCompiler {
        /// Compiler's command.
        command: String,
        /// System's error.
        #[source]
        source: std::io::Error,
    },
    /// The compiler's command contains an unclosed quote.
    #[error("the MPI compiler's command ends within quotes: {0}")]
    Quotes(String),
    /// The compiler rejected the program.
    #[error("'{command}' cannot build the MPI program: {said}")]
    Compiler {
        /// Compiler's command.
        command: String,
        /// Compiler's first lines of output.
        said: String,
    },
    /// The compiler did not end.
    #[error(transparent)]
    Late(LimitedError),
    /// A file could not be written or read.
    #[error("cannot write the MPI program")]
    File(#[from] std::io::Error),
    /// A rank could not build the program.
    #[error("on {node}: {why}")]
    Unbuilt {
        /// Rank's node.
        node: String,
        /// Reason.
        why: String,
    },
    /// A rank's program failed.
    #[error("the MPI program failed on {node}: {why}")]
    Failed {
        /// Rank's node.
        node: String,
        /// Reason.
        why: String,
    },
    /// The output of the program is malformed.
    #[error("cannot read the output of the MPI program: {0}")]
    Printed(String),
    /// Each rank ran as a separate job.
    #[error(
        "{0}: this MPI is not the launcher's, or the launcher does not know it ('srun --mpi=list' \
         shows known ones)"
    )]
    Apart(String),
}

impl Mpi {
    pub(crate) fn check(&self, nodes: usize) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for pair in &self.pairs {
            let [a, b] = pair.nodes;
            if a >= b || b >= nodes || !seen.insert(pair.nodes) {
                return Err(format!(
                    "nodes {a} and {b} are twice in the MPI figures, or not among {nodes}",
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
            Err("the time of a collective operation is negative or not a number".to_owned())
        }
    }
}

impl Cluster {
    /// The cluster with MPI's round trips and rates instead of TCP's; `None` if MPI lacks some
    /// pairs.
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
