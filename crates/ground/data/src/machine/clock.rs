//! The clock behind the figures.

use serde::{Deserialize, Serialize};

/// The clock behind the figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Clock {
    /// Its smallest step, in nanoseconds; for an imported file, the step of its values.
    pub step_ns: Option<f64>,
    /// The source of its readings: `tsc`, `cntvct` or `clock_gettime`.
    pub source: Option<String>,
    /// Ticks per second.
    pub frequency_hz: Option<f64>,
    /// Whether the figures are multiples of a step too coarse for them.
    pub quantised: bool,
}
