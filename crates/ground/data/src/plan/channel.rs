//! The cache lines for communicating tasks.

use serde::{Deserialize, Serialize};

/// A pair of communicating tasks and the home of their line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Channel {
    /// One task.
    #[cfg_attr(feature = "schema", schemars(range(max = crate::plan::placed::MAX_TASKS - 1)))]
    pub from: usize,
    /// The other task.
    #[cfg_attr(feature = "schema", schemars(range(max = crate::plan::placed::MAX_TASKS - 1)))]
    pub to: usize,
    /// The home: a column of the profile's `home_model.offset_ns`.
    pub home: usize,
    /// A candidate line of that home, by its number in `home_model.lines.home_of_line`.
    #[serde(default)]
    pub line: Option<usize>,
    /// The round trip that the model predicts for it.
    pub distance_ns: f64,
}
