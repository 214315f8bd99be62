//! What a controller finds of the one before it.

use crate::account::Lost;
use seatmap_cell::undo::Left;

/// What a controller must tell of when it begins.
#[derive(Debug, Default)]
pub struct Inherited {
    /// What the one before it changed, and could not be put back.
    pub left: Vec<Left>,
    /// Why the account of who has had how much is begun anew.
    pub lost: Option<Lost>,
}
