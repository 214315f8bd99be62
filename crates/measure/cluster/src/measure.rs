//! The parallel program of all ranks.

use crate::cluster::Cluster;
use crate::facts::NodeConfiguration;
use crate::launcher::Rank;
use crate::meeting::Meeting;
use crate::mpi::MpiError;
use crate::rank_error::RankError;
use crate::secret::Secret;
use crate::{lead, worker};
use seatmap_data::document::Blame;
use seatmap_data::machine::Profile;
use seatmap_data::statistics::words::counted;
use std::time::Duration;

/// Options of a cluster measurement.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// How the ranks meet.
    pub meeting: Meeting,
    /// Not needed to meet by file.
    pub secret: Option<Secret>,
    /// Measure every pair.
    pub all: bool,
    /// Count every rank as a node.
    pub each_rank: bool,
    /// Also measure rates while many nodes send simultaneously.
    pub loaded: bool,
    /// Compiler to measure MPI with, such as `mpicc`.
    pub mpicc: Option<String>,
    /// The time for the round trips of one size of one pair. Below 20 ms streams are shorter, too.
    pub trips: Duration,
    /// Simultaneous pairs; they disturb each other on a shared link.
    pub at_once: usize,
    /// Limit for ranks to join, and for a pair.
    pub timeout: Duration,
    /// An earlier result, whose pairs are not measured again.
    pub earlier: Option<Cluster>,
    /// Day, `YYYY-MM-DD`.
    pub date: Option<String>,
}

/// This rank's own node.
pub struct Own {
    /// Its host name.
    pub name: String,
    /// Its hardware and system.
    pub facts: NodeConfiguration,
    /// Measures its core distances, if requested.
    pub profile: Option<Box<dyn Fn() -> Option<Profile> + Send>>,
}

/// The progress of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterProgress {
    /// The unit (such as `pairs`), how many are done, and the maximum.
    Done(&'static str, usize, usize),
    /// Bad-looking pairs are measured again. Reported once.
    Again {
        /// Pairs of the first round.
        pairs: usize,
        /// Time limit for all rounds.
        at_most: Duration,
    },
}

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum ClusterMeasureError {
    /// A rank cannot take part.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// Ranks did not join.
    #[error(
        "of {size}, these did not join within {seconds} s: {absent}{refused}",
        size = counted(.size, "rank")
    )]
    Absent {
        /// Ranks.
        size: usize,
        /// How long rank 0 waited.
        seconds: f64,
        /// Numbers of the absent ranks.
        absent: String,
        /// Refused callers.
        refused: String,
    },
    /// All ranks run on one node.
    // Plural: a start has two ranks or more.
    #[error(
        "need at least two nodes: all {0} ranks run on {1} (--each-rank counts every rank as a \
         node)"
    )]
    OneNode(usize, String),
    /// The earlier result is of other nodes.
    #[error("the earlier result has other nodes: {0}")]
    Earlier(String),
    /// The measurement through MPI failed.
    #[error(transparent)]
    Mpi(#[from] MpiError),
}

impl Blame for ClusterMeasureError {
    fn is_input(&self) -> bool {
        match self {
            ClusterMeasureError::Rank(error) => error.is_input(),
            ClusterMeasureError::Mpi(error) => {
                matches!(error, MpiError::NoCompiler { .. } | MpiError::Compiler { .. })
            }
            ClusterMeasureError::Earlier(_) | ClusterMeasureError::OneNode(..) => true,
            ClusterMeasureError::Absent { .. } => false,
        }
    }
}

/// Runs this rank. Rank 0 returns the result, the others return nothing. `keep` receives the
/// partial result every second and before MPI runs, because a launcher may end the whole job;
/// [`ClusterOptions::earlier`] resumes from it.
///
/// # Errors
///
/// [`ClusterMeasureError`]. Nodes lost during the measurement are in [`Cluster::missing`].
pub fn run(
    rank: &Rank,
    own: Own,
    options: &ClusterOptions,
    progress: &mut dyn FnMut(ClusterProgress),
    keep: &mut dyn FnMut(&Cluster),
) -> Result<Option<Cluster>, ClusterMeasureError> {
    if rank.rank > 0 {
        worker::run(rank, own, options)?;
        return Ok(None);
    }
    lead::run(rank, own, options, progress, keep).map(Some)
}
