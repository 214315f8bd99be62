//! How well objectives that cost nothing agree with runs.

use serde::{Deserialize, Serialize};

/// Rank correlations (Spearman 1904) between the measured times of placements and their costs by
/// other objectives. Near 1, the cheap objective would have done; near 0, it says nothing here.
/// Null where all placements cost the same by it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agreement {
    /// The number of placements that were run.
    pub placements: usize,
    /// The correlation with the sum of weight x distance.
    pub distance: Option<f64>,
    /// The correlation with the load of the most loaded link.
    pub congestion: Option<f64>,
}
