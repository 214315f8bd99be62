//! Estimated homes, compared with known ones.

use serde::{Deserialize, Serialize};

/// How many estimated homes are right, for a model with known homes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HomesChecked {
    /// The pairs of lines with a common home, and those of them that were found.
    pub found: Rate,
    /// The pairs of lines found to share a home, and those of them that do.
    pub said: Rate,
    /// The lines, and those of them with the right nearest PU (`FindTD`, algorithm 2 of Liu et al.
    /// 2015).
    pub nearest: Rate,
}

/// The number of right results among a number of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// The number of right results.
    pub right: u64,
    /// The number of cases.
    pub of: u64,
}

impl Rate {
    /// Counts a case.
    pub fn count(&mut self, is_right: bool) {
        self.right += u64::from(is_right);
        self.of += 1;
    }
}

impl std::ops::AddAssign for Rate {
    fn add_assign(&mut self, more: Rate) {
        self.right += more.right;
        self.of += more.of;
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} of {}", self.right, self.of)
    }
}

impl std::fmt::Display for HomesChecked {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            // Plural: a rate reads `3 of 5`.
            "compared with the model: {} pairs of lines with a common home were found, {} reported \
             pairs share one; the nearest CPU is right for {} lines",
            self.found, self.said, self.nearest
        )
    }
}
