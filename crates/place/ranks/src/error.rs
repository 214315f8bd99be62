//! Why ranks cannot be placed.

/// The reason why a request was refused, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RanksError {
    /// More ranks than seats.
    #[error("{ranks} ranks of {per_rank} CPUs do not fit on {nodes} nodes, which have {seats} such seats")]
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
    #[error("{0} seats are more than the {most} that this search can hold", most = crate::request::MOST_SEATS)]
    TooMany(usize),
    /// A name that no node has.
    #[error("the cluster has no node {0}; 'seatmap show' on its file lists them")]
    NoSuchNode(String),
    /// A rank that the pattern does not have.
    #[error("rank {0} is fixed, and the pattern has {1} ranks, counted from 0")]
    NoSuchRank(usize, usize),
    /// A rank that is fixed twice.
    #[error("rank {0} is fixed twice")]
    FixedTwice(usize),
    /// More ranks fixed on a node than it has seats.
    #[error("{fixed} ranks are fixed on {node}, which has {seats} seats")]
    Crowded {
        /// The node.
        node: String,
        /// Ranks fixed there.
        fixed: usize,
        /// Seats there.
        seats: usize,
    },
    /// Whole nodes in order cannot be had together with fixed ranks.
    #[error("ranks in consecutive blocks cannot be fixed one by one; leave out one of the two options")]
    FixedInBlocks,
}
