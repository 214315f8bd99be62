//! Why a document was refused.

/// Why a document was refused.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The text is not JSON, or JSON of another shape.
    #[error("line {line}, column {column}: {problem}")]
    Json {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// The parser's message.
        problem: String,
    },
    /// Another format, or a version of this one that is not known here.
    #[error("its format is '{found}', and this program reads {known}")]
    Format {
        /// The format that the document names.
        found: String,
        /// The format that was expected.
        known: &'static str,
    },
    /// The parts do not fit together.
    #[error("{0}")]
    Inconsistent(String),
}

impl From<serde_json::Error> for DocumentError {
    fn from(error: serde_json::Error) -> Self {
        // The parser ends its words with the place, which has fields of its own here.
        let full = error.to_string();
        let problem = full.split(" at line ").next().unwrap_or_default().to_owned();
        DocumentError::Json { line: error.line(), column: error.column(), problem }
    }
}
