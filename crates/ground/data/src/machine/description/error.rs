//! The errors of descriptions.

use super::FORMAT;
use crate::document::Position;

/// Why a description was refused.
#[derive(Debug, thiserror::Error)]
pub enum DescriptionError {
    /// The text is not TOML, or TOML that does not describe a machine.
    #[error("{position}: {problem}")]
    Invalid {
        /// Position of the mistake.
        position: Position,
        /// Problem, and the right value.
        problem: String,
    },
    /// Another format, or an unknown version of this one.
    #[error("its format is '{0}', but this program reads {FORMAT}")]
    Format(String),
}
