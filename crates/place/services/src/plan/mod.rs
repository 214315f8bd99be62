//! Sets of CPUs for all services together. Pure: a record and a machine in, a plan out.
//!
//! A plan divides the services into *pools*. The services of one pool share one set of CPUs, and
//! the sets of two pools have no CPU in common. All sharing all is one pool; CPUs of its own for
//! each service is a pool for each. So the plan also answers which services should share.
//!
//! | module | holds |
//! |---|---|
//! | [`units`] | the machine in cores, or in CPUs where it has few: a pool has them whole |
//! | [`demand`] | the services as the search sees them: load by sample, limits, talk |
//! | [`cost`] | the objective, term by term |
//! | [`memory`] | memory that services need, and the nodes that have it |
//! | [`spans`] | runs of neighbouring units |
//! | [`exact`] | the best plan for up to five services, by branch and bound |
//! | [`search`] | a good plan for more, by annealing |
//! | [`bound`] | a cost that no plan undercuts |
//! | [`baselines`] | the sets that other tools would give |
//! | [`replay`] | a second judge: the record played on the sets, with work that is left over |
//! | [`document`] | `seatmap-services-plan/1` |
//! | [`request`] | from a record to a plan |
//!
//! A set is a run of neighbouring units in the order of the machine's hierarchy, so that a small
//! set lies in one cache, and a large one covers as few caches and nodes as it can.

pub mod baselines;
pub mod bound;
pub mod cost;
pub mod demand;
pub mod document;
pub mod exact;
pub mod memory;
pub mod replay;
pub mod request;
pub mod search;
pub mod spans;
pub mod units;

pub use document::{PlannedService, ServicesPlan};
pub use request::{PlanError, PlanRequest};

use std::fmt;

/// Services by their places, as bits.
pub type Members = u64;

/// The places in a set of services, ascending.
pub(crate) fn places(members: Members) -> impl Iterator<Item = usize> {
    (0..u64::BITS as usize).filter(move |at| members >> at & 1 == 1)
}

/// The services that share one set, and the set as places of units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The services.
    pub members: Members,
    /// The units, ascending.
    pub units: Vec<usize>,
}

/// All pools. Their services and units are apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pools(pub Vec<Pool>);

impl fmt::Display for Pools {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for pool in &self.0 {
            let members: Vec<usize> = places(pool.members).collect();
            write!(out, "{members:?} on {:?}; ", pool.units)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
