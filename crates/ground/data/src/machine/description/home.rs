//! `[home]`: the distance added by the home of the line.

use super::RoundTripParameter;
use serde::{Deserialize, Serialize};

/// The home that the distances of the description are for, if it matters.
///
/// Two PUs without a common L3 find the owner of a line through its home. The figures of
/// `[distance]` are for PUs in the home's own package; each PU of the pair on another package adds
/// `far_offset`: d = B + a_i + a_j. A published matrix of one line on a dual EPYC shows this as a
/// slow second socket.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Home {
    /// The package of the line's home, counted from 0.
    #[cfg_attr(feature = "schema", schemars(range(max = super::shape::MAX_PUS - 1)))]
    pub package: u32,
    /// Added for each PU of the pair that is on another package.
    pub far_offset: RoundTripParameter,
}
