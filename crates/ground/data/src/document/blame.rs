//! Whether the user's input or the work is to blame for an error.

use std::error::Error;

/// An error that says which of a command's two exit codes for failures is its own.
pub trait Blame: Error + 'static {
    /// Whether the user can mend it by another command line or input file (exit code 2), rather
    /// than that the work failed (exit code 1).
    fn is_input(&self) -> bool;
}
