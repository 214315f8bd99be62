//! The parallel program: rank 0 chooses pairs and gathers figures, the others do as it says.

use crate::cluster::Cluster;
use crate::facts::NodeConfiguration;
use crate::handshake::HandshakeError;
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

/// The choices of the user.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Where the ranks meet.
    pub meeting: Meeting,
    /// Their secret; a meeting by file needs none.
    pub secret: Option<Secret>,
    /// Measure every pair.
    pub all: bool,
    /// Every rank counts as a node, also those of one host.
    pub each_rank: bool,
    /// Measure rates while many nodes send at once as well.
    pub loaded: bool,
    /// Measure through MPI as well, by a program that this compiler builds, such as `mpicc`.
    pub mpicc: Option<String>,
    /// The time for the round trips of one size of one pair. Streams are shorter than
    /// usual below 20 ms.
    pub trips: Duration,
    /// Pairs that are measured at a time. More than one disturb each other where they share a link.
    pub at_once: usize,
    /// How long is waited for a rank to come, and for a pair.
    pub timeout: Duration,
    /// An earlier result: its pairs are not measured again.
    pub earlier: Option<Cluster>,
    /// The day, as `YYYY-MM-DD`.
    pub date: Option<String>,
}

/// This rank's own node.
pub struct Own {
    /// Its host name.
    pub name: String,
    /// Its facts.
    pub facts: NodeConfiguration,
    /// Measures its core distances, where that is asked for.
    pub profile: Option<Box<dyn Fn() -> Option<Profile> + Send>>,
}

impl std::fmt::Debug for Own {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Own").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How far rank 0 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterProgress {
    /// So many of at most so many are done, of the things that are measured now: `pairs`.
    Done(&'static str, usize, usize),
    /// Pairs look bad, and are measured again beside like pairs. Said once, before the first.
    Again {
        /// The pairs of the first round.
        pairs: usize,
        /// All rounds end after so long.
        at_most: Duration,
    },
}

/// Why there is no result, or only a part of one.
#[derive(Debug, thiserror::Error)]
pub enum ClusterMeasureError {
    /// A rank cannot take part.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// Ranks never came.
    #[error(
        "of {size}, these did not come within {seconds} s: {absent}{refused}",
        size = counted(*.size, "rank")
    )]
    Absent {
        /// How many there are.
        size: usize,
        /// How long they were waited for.
        seconds: f64,
        /// Their numbers.
        absent: String,
        /// Words about those that were sent away.
        refused: String,
    },
    /// A connection between two ranks did not come about.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// All ranks run on one node.
    // Plural: a start has two ranks or more.
    #[error(
        "all {0} ranks run on {1}: distances between nodes need two (--each-rank counts every rank \
         as a node)"
    )]
    OneNode(usize, String),
    /// A file of an earlier measurement is of other nodes.
    #[error("the earlier result is of other nodes: {0}")]
    Earlier(String),
    /// There are no figures by MPI.
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
            ClusterMeasureError::Absent { .. } | ClusterMeasureError::Handshake(_) => false,
        }
    }
}

/// Runs this rank. Rank 0 returns the result, the others nothing. Every second, and before anything
/// is done through MPI, `keep` gets the result so far, so that [`ClusterOptions::earlier`] can go
/// on with it: a launcher may end the whole job.
///
/// # Errors
/// [`ClusterMeasureError`]. Nodes that went away while pairs were measured are not among them: they
/// stand in [`Cluster::missing`].
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
