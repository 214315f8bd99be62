//! The state that a controller takes over from the one before it.

use crate::account::Lost;
use seatmap_cell::undo::Left;

/// The state that a controller must report when it begins.
#[derive(Debug, Default)]
pub struct Inherited {
    /// The settings that the one before it changed, and that could not be put back.
    pub left: Vec<Left>,
    /// Why the account of who has had how much is begun anew.
    pub lost: Option<Lost>,
}
