//! How well computed objectives agree with runs.

use serde::{Deserialize, Serialize};

/// Rank correlations (Spearman 1904) between the measured times of placements and their costs by
/// other objectives. Near 1, the cheaper objective would have been as good; near 0, it is useless
/// here. Null if all placements have the same cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agreement {
    /// The number of placements run.
    pub placements: usize,
    /// The correlation with the sum of weight x distance.
    pub distance: Option<f64>,
    /// The correlation with the load of the most loaded link.
    pub congestion: Option<f64>,
}
