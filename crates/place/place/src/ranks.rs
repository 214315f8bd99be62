//! Where the ranks of a job should run: on which node of a cluster, and on which CPUs of it.
//!
//! Two questions, one after the other. Which ranks share a node is a partition with exact
//! capacities, judged by the round trips between nodes as they were measured; [`over_nodes`]
//! answers it. Where a node's ranks sit is the ordinary placement of [`place`](mod@crate::place) on
//! that node's core distances; [`inside`] answers it, once for nodes of one kind whose ranks talk
//! alike. The answer is never an order inside MPI: [`export`] writes it as the files with which
//! launchers start ranks where they are told.
//!
//! | module | holds |
//! |---|---|
//! | [`nodes`] | the cluster as places for ranks |
//! | [`request`], [`error`] | the request; why it is refused |
//! | [`over_nodes`], [`inside`] | ranks onto nodes, and onto CPUs |
//! | [`orders`] | block, cyclic, plane and random: the orders that launchers know |
//! | [`plan`] | the answer on file |
//! | [`candidates`] | several answers, of which a race picks one |
//! | [`export`] | the answer as launchers take it |

pub mod candidates;
pub mod error;
pub mod export;
pub mod inside;
pub mod nodes;
pub mod orders;
pub mod over_nodes;
pub mod plan;
pub mod request;

pub use candidates::RankCandidate;
pub use error::RanksError;
pub use nodes::{ClusterNodes, RankNode};
pub use plan::{NamedOrder, OrderCosts, RankPlan};
pub use request::{RankRequest, RankWishes};
