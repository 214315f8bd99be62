//! The costs of the usual placements, for comparison with a plan's own cost.

use serde::{Deserialize, Serialize};

/// The costs of the usual placements, by the same objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Baselines {
    /// Tasks in order on PUs in the order of their OS indices.
    pub os: f64,
    /// Tasks in order, each PU as near to the last as the topology allows.
    pub compact: f64,
    /// Tasks in order, each PU as far from the others as the topology allows.
    pub scatter: f64,
    /// Random placements.
    pub random: Random,
}

/// The costs of random placements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Random {
    /// The mean cost.
    pub mean: f64,
    /// The best cost of 1000 placements, or of 24 if each is a run of the program.
    pub best: f64,
}
