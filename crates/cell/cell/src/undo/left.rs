//! Something that was not put back, and why.

use seatmap_os::root::FileError;
use std::fmt;

/// Something that was not put back, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The setting, or the thread.
    pub path: String,
    /// The reason.
    pub why: String,
}

impl Left {
    /// The things in a folder that cannot be read; among them may be some to put back.
    pub(crate) fn unlisted(error: &FileError) -> Self {
        Left {
            path: error.path.clone(),
            why: format!("it cannot be read, and may list more: {}", error.source),
        }
    }
}

impl fmt::Display for Left {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} is not put back: {}", self.path, self.why)
    }
}
