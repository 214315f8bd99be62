//! Why ranks cannot be placed.

use seatmap_data::statistics::words::counted;

/// The reason why a request was refused, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RanksError {
    /// More ranks than seats.
    #[error(
        "{ranks} of {per_rank} do not fit on {nodes}, which have {seats} such seats",
        nodes = counted(*.nodes, "node"),
        per_rank = counted(*.per_rank, "CPU"),
        ranks = counted(*.ranks, "rank")
    )]
    TooFewSeats {
        /// Ranks.
        ranks: usize,
        /// CPUs of each.
        per_rank: usize,
        /// Nodes that may be used.
        nodes: usize,
        /// Seats on them.
        seats: usize,
    },
    /// More than the search can hold.
    #[error(
        "{} are more than the {most} that this search can hold",
        counted(*.0, "seat"),
        most = crate::ranks::request::MOST_SEATS
    )]
    TooMany(usize),
    /// A name that no node has.
    #[error("the cluster has no node {0}; 'seatmap show' on its file lists them")]
    NoSuchNode(String),
    /// A rank that the pattern does not have.
    #[error("rank {} is fixed, and the pattern has {}, counted from 0", .0, counted(*.1, "rank"))]
    NoSuchRank(usize, usize),
    /// A rank that is fixed twice.
    #[error("rank {0} is fixed twice")]
    FixedTwice(usize),
    /// More ranks fixed on a node than it has seats.
    #[error(
        "{fixed} are fixed on {node}, which has {seats}",
        seats = counted(*.seats, "seat"),
        fixed = counted(*.fixed, "rank")
    )]
    Crowded {
        /// The node.
        node: String,
        /// Ranks fixed there.
        fixed: usize,
        /// Seats there.
        seats: usize,
    },
    /// Whole nodes in order cannot be had together with fixed ranks.
    #[error(
        "ranks in consecutive blocks cannot be fixed one by one; leave out one of the two options"
    )]
    FixedInBlocks,
}
