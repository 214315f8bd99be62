//! Why a plan was refused.

use crate::plan::FORMAT;

/// Why a plan was refused.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Not JSON, or JSON of another shape.
    #[error("line {line}, column {column}: {problem}")]
    Json {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What the parser says.
        problem: String,
    },
    /// Another format, or a version of this one that is not known here.
    #[error("its format is '{0}', and this program reads {FORMAT}")]
    Format(String),
    /// The parts do not fit together.
    #[error("{0}")]
    Inconsistent(String),
}

impl From<serde_json::Error> for PlanError {
    fn from(error: serde_json::Error) -> Self {
        let full = error.to_string();
        let problem = full.split(" at line ").next().unwrap_or_default().to_owned();
        PlanError::Json { line: error.line(), column: error.column(), problem }
    }
}
