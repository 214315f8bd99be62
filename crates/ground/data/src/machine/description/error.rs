//! The errors of descriptions.

use super::FORMAT;

/// Why a description was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// The text is not TOML, or TOML that does not describe a machine.
    #[error("line {line}, column {column}: {problem}")]
    Invalid {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// The problem, and the right value.
        problem: String,
    },
    /// Another format, or an unknown version of this one.
    #[error("its format is '{0}', but this program reads {FORMAT}")]
    Format(String),
}
