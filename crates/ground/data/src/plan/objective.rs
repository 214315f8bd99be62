//! The objectives of placements.

use serde::{Deserialize, Serialize};

/// The cost by which placements are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The sum of weight x core distance.
    Distance,
    /// The load of the most loaded link.
    Congestion,
    /// Time in the simulator.
    Simulated,
    /// Time of the real program.
    Measured,
    /// Time of the slowest seat: its work at its speed, and its messages.
    Time,
}
