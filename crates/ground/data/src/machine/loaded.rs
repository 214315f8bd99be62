//! Core distance under load.

use serde::{Deserialize, Serialize};

/// One point of the loaded curve: a number of disjoint pairs at once, with random pairs in each
/// draw (Liu et al. 2015, figure 7). Round-trip nanoseconds over all pairs and draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedPoint {
    /// Pairs that ran at the same time.
    pub pairs: u32,
    /// The median.
    pub median_ns: f64,
    /// The tenth percentile.
    pub p10_ns: f64,
    /// The ninetieth percentile.
    pub p90_ns: f64,
    /// Draws of random pairs.
    pub draws: u32,
    /// The number of batches.
    pub samples: u64,
}
