//! Sets of CPUs for all services together. Pure: a record and a machine in, a plan out.
//!
//! A plan divides the services into *pools*, each with its own set of CPUs.
//!
//! | module | holds |
//! |---|---|
//! | `units` | the machine in cores, or in CPUs if it has few |
//! | `demand` | the services from the view of the search |
//! | [`cost`] | the objective, term by term |
//! | `memory` | memory that services need, and the nodes with it |
//! | `spans` | runs of neighbouring units |
//! | `exact` | the best plan for up to five services, by branch and bound |
//! | `search` | a good plan for more, by annealing |
//! | `bound` | a lower bound on the cost of any plan |
//! | [`baselines`] | the sets that other tools would give |
//! | [`replay`] | a second judge: a replay of the record on the sets |
//! | [`document`] | `seatmap-services-plan/1` |
//! | [`request`] | from a record to a plan |
//!
//! A set is a run of neighbouring units in the machine's hierarchy, so a small set is in one cache,
//! and a large one covers few caches and nodes.

pub mod baselines;
mod bound;
pub mod cost;
mod demand;
pub mod document;
mod exact;
mod memory;
pub mod replay;
pub mod request;
mod search;
mod spans;
pub(crate) mod units;

pub use document::{PlannedService, ServicesPlan};
pub use request::PlanRequest;

/// Services by their indices, as bits.
pub type Members = u64;

pub(crate) fn places(members: Members) -> impl Iterator<Item = usize> {
    (0..u64::BITS as usize).filter(move |at| members >> at & 1 == 1)
}

/// The services that share one set, and the set as indices of units. Different pools have disjoint
/// services and units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The services.
    pub members: Members,
    /// The units, ascending.
    pub units: Vec<usize>,
}

#[cfg(test)]
pub(crate) mod tests;
