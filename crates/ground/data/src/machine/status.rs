//! How far the distance of one pair can be trusted.

use serde::{Deserialize, Serialize};

/// The result of the passes over one pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PairStatus {
    /// All passes agree within their noise.
    Stable,
    /// The passes move away from where they began.
    Drifting,
    /// The pair flips between two or more levels, as vCPUs do that their host moves about.
    MultiRegime,
    /// The passes disagree and show no levels: the median is one of many values that it could have
    /// been.
    Unsteady,
    /// The host runs both vCPUs on one CPU: each round trip waits until the host changes from one
    /// to the other.
    Stacked,
    /// Read from a file that says nothing about it.
    Imported,
}

impl PairStatus {
    /// The word used in profiles.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            PairStatus::Stable => "stable",
            PairStatus::Drifting => "drifting",
            PairStatus::MultiRegime => "multi-regime",
            PairStatus::Unsteady => "unsteady",
            PairStatus::Stacked => "stacked",
            PairStatus::Imported => "imported",
        }
    }
}
