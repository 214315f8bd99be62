//! Why a document was refused.

use crate::document::parser_sentence;

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
        /// The mistake, as [`parser_sentence`] has it.
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
        let place = format!(" at line {} column {}", error.line(), error.column());
        let problem = parser_sentence(full.strip_suffix(&place).unwrap_or(&full));
        // Behind a line's end the parser counts columns from 0.
        DocumentError::Json { line: error.line(), column: error.column().max(1), problem }
    }
}

/// A mistake of a text of one line, such as a line of a journal, whose number the reader of the
/// file knows.
#[must_use]
pub fn json_problem(error: serde_json::Error) -> String {
    match DocumentError::from(error) {
        DocumentError::Json { problem, .. } => problem,
        other => other.to_string(),
    }
}
