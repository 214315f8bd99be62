//! One figure of a description, with its source.

use serde::{Deserialize, Serialize};

/// A round-trip time, in nanoseconds or in core cycles (which need `frequency_ghz`), and its
/// source.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("oneOf" = [
    { "required": ["round_trip_ns"] },
    { "required": ["round_trip_cycles"] },
])))]
#[serde(deny_unknown_fields)]
pub struct RoundTripParameter {
    /// Round trip in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(
        range(max = super::check::MAX_ROUND_TRIP_NS),
        extend("exclusiveMinimum" = 0)
    ))]
    pub round_trip_ns: Option<f64>,
    /// Round trip in cycles of `frequency_ghz`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub round_trip_cycles: Option<f64>,
    /// The origin of the figure.
    pub kind: Basis,
    /// The document, the data, or the reason for assuming it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub source: String,
    /// True if the figure may be nearer than that of a class inside this one; otherwise that is a
    /// mistake.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nearer_than_inside: bool,
}

/// The origin of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Stated by a paper or a manual.
    Document,
    /// Fitted to published measurements.
    Calibration,
    /// Neither; `source` gives the reason.
    Assumption,
}

impl RoundTripParameter {
    /// The round trip in nanoseconds; `None` unless it is given in exactly one unit, and the
    /// frequency with cycles.
    pub fn ns(&self, frequency_ghz: Option<f64>) -> Option<f64> {
        match (self.round_trip_ns, self.round_trip_cycles) {
            (Some(ns), None) => Some(ns),
            (None, Some(cycles)) => Some(cycles / frequency_ghz?),
            _ => None,
        }
    }
}
