//! The positions of errors in the text.

use super::DescriptionError;
use super::check::Flaw;
use crate::document::{Position, parser_message};
use toml::de::DeTable;

pub fn refused(text: &str, error: &toml::de::Error) -> DescriptionError {
    let at = error.span().map_or(0, |span| span.start);
    invalid(text, at, parser_message(error.message()))
}

/// A flaw in well-formed TOML, at its key.
pub fn placed(text: &str, flaw: Flaw) -> DescriptionError {
    invalid(
        text,
        offset_of(text, &flaw.key).unwrap_or(0),
        format!("{}: {}", flaw.key, flaw.problem),
    )
}

fn invalid(text: &str, at: usize, problem: String) -> DescriptionError {
    DescriptionError::Invalid { position: Position::of(text.as_bytes(), at), problem }
}

/// The start of a dotted key, or of its longest existing part.
fn offset_of(text: &str, dotted: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut at = None;
    for part in dotted.split('.') {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref().as_ref() == part)
        else {
            // A missing key is reported at its table.
            break;
        };
        at = Some(key.span().start);
        let Some(inner) = value.get_ref().as_table() else { break };
        table = inner;
    }
    at
}
