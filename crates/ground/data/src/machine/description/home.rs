//! `[home]`: what the home of the line adds.

use super::RoundTripParameter;
use serde::{Deserialize, Serialize};

/// The home that the distances of the description are for, where that matters.
///
/// Two PUs that share no L3 reach agreement on the owner of a line through its home. The figures of
/// `[distance]` are for PUs in the home's own package; each PU of the pair that sits elsewhere adds
/// `far_offset`: d = B + a_i + a_j. A published matrix of one line on a dual EPYC shows it as a
/// slow second socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Home {
    /// The package that the line lives on, counted from 0.
    #[cfg_attr(feature = "schema", schemars(range(max = super::shape::MAX_PUS - 1)))]
    pub package: u32,
    /// Added for each PU of the pair that is on another package.
    pub far_offset: RoundTripParameter,
}
