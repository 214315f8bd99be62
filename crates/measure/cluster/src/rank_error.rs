//! Why a rank cannot take part, whatever the ranks are there to do.

use crate::meeting::MeetingError;
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
    /// Rank 0 went away.
    #[error("rank 0 has ended")]
    Lead(#[source] io::Error),
    /// This process has no thread or port for itself.
    #[error("this rank cannot serve others")]
    Own(#[source] io::Error),
}
