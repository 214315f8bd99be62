//! Homes found, against homes known.

use serde::{Deserialize, Serialize};

/// How many of the homes that were found are right; only a model knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HomesChecked {
    /// Among the pairs of lines that share a home, those that were found to share one.
    pub found: Rate,
    /// Among the pairs of lines that were found to share a home, those that do.
    pub said: Rate,
    /// Among the lines, those for which the nearest PU was found (`FindTD`, algorithm 2 of Liu et
    /// al. 2015).
    pub nearest: Rate,
}

/// The number of right answers among a number of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// The number of right answers.
    pub right: u64,
    /// The number of cases.
    pub of: u64,
}

impl Rate {
    /// One more, right or wrong.
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
            "as the model knows: {} pairs of lines that share a home were found, {} that were said \
             to do; the nearest CPU is right for {} lines",
            self.found, self.said, self.nearest
        )
    }
}
