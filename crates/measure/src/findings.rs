//! What is odd about a profile, as values.

use seatmap_machine::Profile;
use serde::Serialize;

/// One thing that a reader of the profile should know. `Display` gives it as one sentence, with what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The star a_i + a_j explains the pairs inside the groups: the matrix says which PU is near the line's home and no more.
    PairViewEmpty {
        /// Share of the variance that the star explains.
        star_r2: f64,
    },
}

impl std::fmt::Display for Finding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Finding::PairViewEmpty { star_r2 } => write!(out, "star R2 {star_r2:.3}"),
        }
    }
}

/// Everything odd about a profile, most important first.
#[must_use]
pub fn findings(_profile: &Profile) -> Vec<Finding> {
    Vec::new()
}
