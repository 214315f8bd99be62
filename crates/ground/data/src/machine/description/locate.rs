//! Where in the text something is wrong.

use super::DescriptionError;
use super::check::Flaw;
use toml::de::DeTable;

/// The error for a text that the TOML reader refused.
pub fn refused(text: &str, error: &toml::de::Error) -> DescriptionError {
    let at = error.span().map_or(0, |span| span.start);
    invalid(text, at, crate::document::parser_sentence(error.message()))
}

/// A flaw in well-formed TOML, at the key it is about.
pub fn placed(text: &str, flaw: Flaw) -> DescriptionError {
    invalid(
        text,
        offset_of(text, &flaw.key).unwrap_or(0),
        format!("{}: {}", flaw.key, flaw.problem),
    )
}

fn invalid(text: &str, at: usize, problem: String) -> DescriptionError {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
    DescriptionError::Invalid { line, column, problem }
}

/// The byte at which a dotted key, or as much of it as there is, begins.
fn offset_of(text: &str, dotted: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut at = None;
    for part in dotted.split('.') {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref().as_ref() == part)
        else {
            // A key that is missing is reported at the table where it should be.
            break;
        };
        at = Some(key.span().start);
        let Some(inner) = value.get_ref().as_table() else { break };
        table = inner;
    }
    at
}
