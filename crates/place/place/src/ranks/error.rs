//! Errors of placing ranks.

use seatmap_data::statistics::words::counted;

/// A refused request, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RanksError {
    /// More ranks than seats.
    #[error(
        "{ranks} of {per_rank} do not fit on {nodes} with room for {seats}",
        nodes = counted(*.nodes, "node"),
        per_rank = counted(*.per_rank, "CPU"),
        ranks = counted(*.ranks, "rank")
    )]
    TooFewSeats {
        /// Number of ranks.
        ranks: usize,
        /// CPUs per rank.
        per_rank: usize,
        /// Number of usable nodes.
        nodes: usize,
        /// Seats on them.
        seats: usize,
    },
    /// More seats than the search can handle.
    #[error(
        "{} are too many; this search handles at most {most}",
        counted(*.0, "seat"),
        most = crate::ranks::request::MOST_SEATS
    )]
    TooMany(usize),
    /// The cluster has no such node.
    #[error("the cluster has no node {0}; 'seatmap show FILE' lists its nodes")]
    NoSuchNode(String),
    /// The pattern has no such rank.
    #[error("rank {} is fixed, but the pattern has {}, counted from 0", .0, counted(*.1, "rank"))]
    NoSuchRank(usize, usize),
    /// A rank is fixed twice.
    #[error("rank {0} is fixed twice")]
    FixedTwice(usize),
    /// More ranks are fixed on a node than it has seats.
    #[error(
        "{fixed} are fixed on {node}, which only has {seats}",
        seats = counted(*.seats, "seat"),
        fixed = counted(*.fixed, "rank")
    )]
    Crowded {
        /// The node.
        node: String,
        /// Number of ranks fixed on it.
        fixed: usize,
        /// Number of its seats.
        seats: usize,
    },
    /// Ranks in consecutive blocks cannot be fixed.
    #[error(
        "ranks in consecutive blocks cannot be fixed one by one; leave out --blocks or --fix-node"
    )]
    FixedInBlocks,
}
