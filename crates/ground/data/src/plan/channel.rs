//! The cache lines that communicating tasks should use.

use serde::{Deserialize, Serialize};

/// A pair of communicating tasks and the home of the line they should use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Channel {
    /// One task.
    #[cfg_attr(feature = "schema", schemars(range(max = crate::plan::placed::MAX_TASKS - 1)))]
    pub from: usize,
    /// The other.
    #[cfg_attr(feature = "schema", schemars(range(max = crate::plan::placed::MAX_TASKS - 1)))]
    pub to: usize,
    /// The home: a column of the profile's `home_model.offset_ns`.
    pub home: usize,
    /// Candidate lines of that home, by their number in `home_model.lines.home_of_line`: use one of
    /// them.
    #[serde(default)]
    pub line: Option<usize>,
    /// The round trip that the model predicts for it.
    pub distance_ns: f64,
}
