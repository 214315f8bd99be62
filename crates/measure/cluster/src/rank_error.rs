//! Why a rank cannot take part, whatever the ranks are there to do.

use crate::meeting::MeetingError;
use crate::wire;
use seatmap_data::document::Blame;
use std::io;

/// Why a rank cannot take part in a measurement or in spread work.
#[derive(Debug, thiserror::Error)]
pub enum RankError {
    /// The ranks cannot meet.
    #[error(transparent)]
    Meeting(#[from] MeetingError),
    /// Two ranks have one number.
    #[error("two processes say that they are rank {rank}: one on {first}, one on {second}")]
    Twice {
        /// The number.
        rank: usize,
        /// The node of the first one.
        first: String,
        /// The node of the second one.
        second: String,
    },
    /// Rank 0 went away, or somebody interferes with the connection to it.
    #[error("{}", lost(.0))]
    Lead(io::Error),
    /// Rank 0 orders what this rank was not started for.
    #[error(
        "rank 0 asks for {0}, for which this rank was not started: start all ranks with the same \
         command line"
    )]
    Order(&'static str),
    /// A rank was started with other options.
    #[error(
        "rank {rank} on {node} was started with other options than rank 0 (--nodes, --loaded, \
         --mpi): start all ranks with the same command line"
    )]
    Other {
        /// Its number.
        rank: usize,
        /// Its node.
        node: String,
    },
    /// This process has no thread or port for itself.
    #[error("this rank cannot serve others")]
    Own(#[source] io::Error),
}

impl Blame for RankError {
    fn is_input(&self) -> bool {
        match self {
            RankError::Meeting(error) => error.is_input(),
            RankError::Other { .. } | RankError::Order(_) => true,
            _ => false,
        }
    }
}

fn lost(error: &io::Error) -> String {
    if wire::has_ended(error) {
        "rank 0 has ended".to_owned()
    } else {
        format!("rank 0: {}", wire::sentence(error))
    }
}
