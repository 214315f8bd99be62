//! Why a rank cannot take part.

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
    /// Two ranks have the same number.
    #[error("two processes are rank {rank}: one on {first}, one on {second}")]
    Twice {
        /// The number of both.
        rank: usize,
        /// Node of the first rank.
        first: String,
        /// Node of the second rank.
        second: String,
    },
    /// Rank 0 has ended, or its connection is manipulated.
    #[error("{}", lost(.0))]
    Lead(io::Error),
    /// Rank 0 orders something that this rank's command line does not allow.
    #[error(
        "rank 0 requests {0}, but this rank was started without it: start all ranks with the same \
         command line"
    )]
    Order(&'static str),
    /// A rank was started with other options.
    #[error(
        "rank {rank} on {node} was started with other options than rank 0 (--nodes, --loaded, \
         --mpi): start all ranks with the same command line"
    )]
    Other {
        /// The number of the rank.
        rank: usize,
        /// Its node.
        node: String,
    },
    /// This process cannot start a thread or open a port.
    #[error("cannot serve other ranks")]
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
        "rank 0 has exited".to_owned()
    } else {
        format!("rank 0: {}", wire::sentence(error))
    }
}
