//! A second judge: replays the record on the sets.
//!
//! Unlike the search's formula, a pool does its work in order, as much as it can in each slice and
//! the rest later. The two share no code.

use super::demand::Demand;
use super::units::Units;
use super::{Pool, places};
use seatmap_data::statistics::{greatest, quantile};
use serde::{Deserialize, Serialize};

/// How late work is on some sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lateness {
    /// The 99th percentile of the waiting time of work, in milliseconds.
    pub p99_ms: f64,
    /// The longest of these times, in milliseconds.
    pub most_ms: f64,
    /// CPU time not done in its slice, in percent of all wanted time.
    pub late_percent: f64,
}

/// Replays the demand of all services on pools.
pub fn play(demand: &Demand, units: &Units, pools: &[Pool]) -> Lateness {
    let mut delays_ms = Vec::new();
    let mut late_s = 0.0;
    let mut wanted_s = 0.0;
    for pool in pools {
        let capacity: f64 = pool.units.iter().map(|at| units.all[*at].capacity).sum();
        let members: Vec<usize> = places(pool.members).collect();
        let mut queue_s = 0.0;
        for (slice, others) in demand.others_share.iter().enumerate() {
            let came: f64 = members.iter().map(|at| demand.services[*at].cpus[slice]).sum();
            let can_s = capacity * (1.0 - others) * demand.slice_s;
            wanted_s += came * demand.slice_s;
            queue_s = (queue_s + came * demand.slice_s - can_s).max(0.0);
            late_s += queue_s.min(came * demand.slice_s);
            let delay_ms = 1000.0 * queue_s / (capacity * (1.0 - others)).max(1e-9);
            delays_ms.extend(members.iter().map(|_| delay_ms));
        }
    }
    Lateness {
        p99_ms: quantile(&delays_ms, 0.99).unwrap_or(0.0),
        most_ms: greatest(delays_ms),
        late_percent: 100.0 * late_s / f64::max(wanted_s, 1e-9),
    }
}
