//! How near nodes are, by the fastest of their small messages.
//!
//! Busy moments make messages later and none earlier, so that the fastest of all pairs shows what
//! the way itself takes. A way over a second switch takes longer for every pair of a node; a bad
//! cable on the node's own switch leaves its fastest message as fast as its neighbours'.

use super::SMALL_BYTES;
use crate::cluster::{Cluster, Pair};

/// The bytes of Ethernet, IP and TCP around a message.
const HEADER_BYTES: u32 = 66;

/// The fastest tenth of each pair's small messages, in nanoseconds.
pub(super) struct Floors(Vec<([usize; 2], f64)>);

impl Floors {
    pub(super) fn of(cluster: &Cluster) -> Self {
        let pairs = cluster.pairs.iter();
        Floors(pairs.filter_map(|pair| Some((pair.nodes, floor_ns(pair)?))).collect())
    }

    /// The least of all pairs that count.
    pub(super) fn least_ns(&self, counts: impl Fn([usize; 2]) -> bool) -> Option<f64> {
        let counted = self.0.iter().filter(|(nodes, _)| counts(*nodes));
        counted.map(|(_, floor_ns)| *floor_ns).min_by(f64::total_cmp)
    }

    /// How many of the pairs that count take at least so long.
    pub(super) fn count(&self, counts: impl Fn([usize; 2]) -> bool, least_ns: f64) -> usize {
        self.0.iter().filter(|(nodes, floor_ns)| counts(*nodes) && *floor_ns >= least_ns).count()
    }
}

/// The time of a pair's small messages without that which links need for their bits: a slow link
/// sends the same message for longer. Those bits show in larger messages.
fn floor_ns(pair: &Pair) -> Option<f64> {
    let small = pair.trip(SMALL_BYTES)?;
    let larger = pair.trips.iter().filter(|trip| trip.size_bytes > SMALL_BYTES);
    let sending_ns = larger.min_by_key(|trip| trip.size_bytes).map_or(0.0, |larger| {
        let more_bytes = f64::from(larger.size_bytes - SMALL_BYTES);
        let more_ns = (larger.p10_ns - small.p10_ns).max(0.0);
        more_ns * f64::from(SMALL_BYTES + HEADER_BYTES) / more_bytes
    });
    // Noise in the larger ones must not make a small one come at once.
    let floor_ns = (small.p10_ns - sending_ns).max(small.p10_ns / 2.0);
    (floor_ns > 0.0).then_some(floor_ns)
}
