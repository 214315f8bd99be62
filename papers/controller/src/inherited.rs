//! The state that a controller takes over from the previous one.

use crate::account::AccountError;
use seatmap_cell::undo::Left;

/// The state that a controller must report at its start.
#[derive(Debug, Default)]
pub struct InheritedState {
    /// Settings changed by the previous controller that could not be restored.
    pub left: Vec<Left>,
    /// The reason why the users' account restarts at zero.
    pub lost: Option<AccountError>,
}
