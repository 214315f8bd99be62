//! Seatmap's documents: JSON with a `format` key that gives kind and version, and helpers for all
//! writers of text, such as visible control characters.
//!
//! Profiles, patterns, plans and rankings are read in the same three steps, with the same words for
//! errors.
//!
//! | item | is |
//! |---|---|
//! | [`read`], [`read_toml`] | reads a document of a known format |
//! | [`written`] | a document as text |
//! | [`Outline`], [`from_json`], [`too_long`] | the limits of texts and keys in files |
//! | [`left_aligned`], [`right_aligned`] | cells of tables, of any width |
//! | [`DocumentError`], [`Checked`], [`inconsistent`] | why a document was refused |
//! | [`with_causes`] | an error and its causes on one line |
//! | [`Blame`], [`Failure`], [`unfit`] | whether the input or the work caused an error |
//! | [`parser_message`] | a parser's message on one line, with control characters escaped |
//! | [`json_problem`] | the mistake in one line of a document |
//! | [`printed_number`] | a number as programs print it |
//! | [`rounded_ns`] | a time as documents keep it |
//! | [`decimal_number`], [`whole_number`] | a number from a file, of digits only |
//! | [`content_hash`] | 16 digits that are equal for equal values of one type |
//! | [`packed`] | the kind of a packed file, and how to unpack it |
//! | [`Position`] | line and column in any text file |
//! | [`shell_word`], [`shell_escaped`] | a word of a command that people copy |
//! | `schema` | with this feature: the JSON Schemas of documents, for tests |

mod aligned;
mod blame;
mod bounded;
mod causes;
mod error;
mod hash;
mod json;
mod number;
mod packed;
mod position;

#[cfg(feature = "schema")]
pub use crate::tests::schema;
pub use aligned::{left_aligned, right_aligned};
pub use blame::{Blame, Failure, unfit};
pub use bounded::{MOST_TEXT_BYTES, Outline, from_json, too_long};
pub use causes::with_causes;
pub(crate) use error::plain_text;
pub use error::{Checked, DocumentError, inconsistent, json_problem, parser_message};
pub use hash::content_hash;
pub use json::written;
pub use number::{decimal_number, printed_number, rounded_ns, whole_number};
pub use packed::packed;
pub use position::Position;
pub use seatmap_os::shell::{shell_escaped, shell_file, shell_word};
pub use seatmap_os::visible::{is_hidden, visible, visible_lines};

use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
struct Header {
    format: String,
}

/// Whether a text is JSON with such a format, of any version.
///
/// ```
/// assert!(seatmap_data::document::is_kind(br#"{ "format": "seatmap-plan/7" }"#, "seatmap-plan/"));
/// ```
pub fn is_kind(bytes: &[u8], beginning: &str) -> bool {
    serde_json::from_slice(bytes).is_ok_and(|header: Header| header.format.starts_with(beginning))
}

/// Reads a document of one format and version. The format is checked first, so the error for a
/// later version names the version. A text may have at most [`MOST_TEXT_BYTES`].
///
/// # Errors
/// [`DocumentError::Syntax`] with line and column, [`DocumentError::Format`].
pub fn read<T: DeserializeOwned>(text: &str, format: &'static str) -> Result<T, DocumentError> {
    // Only the header, because the keys of another version need not fit the type.
    check_format(serde_json::from_str(text)?, format)?;
    Ok(serde_json::from_str(text)?)
}

/// As [`read`], in TOML.
///
/// # Errors
/// As [`read`].
pub fn read_toml<T: DeserializeOwned>(
    text: &str,
    format: &'static str,
) -> Result<T, DocumentError> {
    check_format(of_toml(text)?, format)?;
    of_toml(text)
}

fn of_toml<T: DeserializeOwned>(text: &str) -> Result<T, DocumentError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        // An error without a position concerns the whole text.
        let at = error.span().map_or(0, |span| span.start);
        let position = Position::of(text.as_bytes(), at);
        DocumentError::Syntax { position, problem: parser_message(error.message()) }
    })
}

fn check_format(outline: Outline, known: &'static str) -> Checked {
    let found = outline.format;
    if found == known { Ok(()) } else { Err(DocumentError::Format { found, known }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Note {
        format: String,
        value: f64,
    }

    const FORMAT: &str = "note/1";

    fn refused(text: &str) -> String {
        read::<Note>(text, FORMAT).unwrap_err().to_string()
    }

    #[test]
    fn round_trip_keeps_every_bit() {
        let note = Note { format: FORMAT.to_owned(), value: 1e22_f64.next_up() };
        assert_eq!(read::<Note>(&written(&note), FORMAT).unwrap(), note);
        assert!(written(&note).ends_with("}\n"));
    }

    #[test]
    fn later_version_is_refused() {
        let later = r#"{ "format": "note/2", "values": [] }"#;
        assert_eq!(refused(later), "its format is 'note/2', but this program reads note/1");
        assert!(is_kind(later.as_bytes(), "note/") && !is_kind(later.as_bytes(), "letter/"));
    }

    #[test]
    fn errors_name_line_and_column() {
        assert_eq!(refused("{\n \"format\": note"), "line 2, column 13: expected ident");
        assert_eq!(refused("{\"format\":\"note/1\"}"), "line 1, column 19: missing field `value`");
    }
}
