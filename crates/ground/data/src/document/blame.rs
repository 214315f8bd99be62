//! Whether the user's input or the work caused an error.

use std::error::Error;

/// An error that determines a command's exit code.
pub trait Blame: Error + 'static {
    /// Whether other input can fix it (exit code 2), or the work failed (exit code 1). Most errors
    /// are about the input.
    fn is_input(&self) -> bool {
        true
    }
}

impl Blame for std::io::Error {
    fn is_input(&self) -> bool {
        false
    }
}
