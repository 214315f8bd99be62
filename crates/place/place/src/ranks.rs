//! Where the ranks of a job should run: on which node of a cluster, and on which of its CPUs.
//!
//! MPI reorders nothing: [`export`] writes files by which launchers start ranks in their places.
//!
//! | module | holds |
//! |---|---|
//! | [`nodes`] | the cluster as places for ranks |
//! | [`request`] | the request |
//! | [`over_nodes`], [`inside`] | ranks onto nodes, and onto CPUs |
//! | [`orders`] | the orders of launchers, and random |
//! | [`plan`] | the plan file |
//! | [`candidates`] | several plans for a race |
//! | [`export`] | the plan in the formats of launchers |

pub mod candidates;
pub mod export;
pub mod inside;
pub mod nodes;
pub mod orders;
pub mod over_nodes;
pub mod plan;
pub mod request;

pub use candidates::RankCandidate;
pub use nodes::{ClusterNodes, RankNode};
pub use plan::{NamedOrder, OrderCosts, RankPlan};
pub use request::{RankRequest, RankWishes};
