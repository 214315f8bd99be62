//! The state that a controller takes over from the one before it.

use crate::account::AccountError;
use seatmap_cell::undo::Left;

/// The state that a controller must report when it begins.
#[derive(Debug, Default)]
pub struct InheritedState {
    /// The settings that the one before it changed, and that could not be put back.
    pub left: Vec<Left>,
    /// The reason why the account of users starts again from zero.
    pub lost: Option<AccountError>,
}
