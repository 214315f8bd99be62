//! The reliability of one pair's distance.

use serde::{Deserialize, Serialize};

/// The result of the passes over one pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PairStatus {
    /// All passes agree within their noise.
    Stable,
    /// The passes drift away from their first values.
    Drifting,
    /// The pair flips between two or more levels, as when a host moves vCPUs.
    MultiRegime,
    /// The passes disagree without levels, so the median is arbitrary.
    Unsteady,
    /// The host runs both vCPUs on one CPU: each round trip waits until the host switches between
    /// them.
    Stacked,
    /// From a file without this information.
    Imported,
}

impl PairStatus {
    /// The word used in profiles.
    pub fn word(self) -> &'static str {
        ["stable", "drifting", "multi-regime", "unsteady", "stacked", "imported"][self as usize]
    }
}
