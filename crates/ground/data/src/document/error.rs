//! The errors of reading documents.

use crate::document::{Position, visible};
use crate::statistics::words::joined;

/// Why a document was refused.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The text is not JSON or TOML, or has other keys.
    #[error("{position}: {problem}")]
    Syntax {
        /// Position of the mistake.
        position: Position,
        /// Parser's message.
        problem: String,
    },
    /// Another format, or an unknown version of this one.
    #[error("its format is '{found}', but this program reads {known}")]
    Format {
        /// Format of the document.
        found: String,
        /// Format that was expected.
        known: &'static str,
    },
    /// The parts do not fit together.
    #[error("{0}")]
    Inconsistent(String),
}

impl DocumentError {
    pub(crate) fn at(position: Position, problem: impl Into<String>) -> Self {
        DocumentError::Syntax { position, problem: problem.into() }
    }

    pub(crate) fn empty() -> Self {
        DocumentError::Inconsistent("the file is empty; create it again".to_owned())
    }
}

/// A text in UTF-8, without a byte-order mark, which some editors write.
pub(crate) fn plain_text(bytes: &[u8]) -> Result<&str, DocumentError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // As in compressed files and UTF-16 exports.
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let problem = "this is not UTF-8 text; unpack the file, or save it as plain UTF-8 text";
        DocumentError::at(Position::of(bytes, error.valid_up_to()), problem)
    })?;
    if text.trim().is_empty() { Err(DocumentError::empty()) } else { Ok(text) }
}

impl From<serde_json::Error> for DocumentError {
    fn from(error: serde_json::Error) -> Self {
        // The parser ends its words with the position, which has separate fields here.
        let full = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let problem = parser_message(full.strip_suffix(&place).unwrap_or(&full));
        // After a line's end the parser counts columns from 0.
        let position = Position { line: error.line(), column: error.column().max(1) };
        DocumentError::Syntax { position, problem }
    }
}

/// The result of checking a document.
pub type Checked = Result<(), DocumentError>;

/// Refuses a document whose parts do not fit together.
///
/// # Errors
/// [`DocumentError::Inconsistent`], always.
pub fn inconsistent<T>(what: impl Into<String>) -> Result<T, DocumentError> {
    Err(DocumentError::Inconsistent(what.into()))
}

/// A parser's message on one line. Hidden characters of the file are escaped ([`visible`]).
pub fn parser_message(message: &str) -> String {
    visible(&joined(message.lines(), ", "))
}

/// The mistake in a text of one line, whose number the caller knows.
pub fn json_problem(error: impl Into<DocumentError>) -> String {
    match error.into() {
        DocumentError::Syntax { problem, .. } => problem,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parser_message_is_one_line_without_control_characters() {
        assert_eq!(
            parser_message("unknown field `\u{1b}[2J`\nexpected `a` or `b`\r\n"),
            "unknown field `\\u{1b}[2J`, expected `a` or `b`"
        );
    }
}
