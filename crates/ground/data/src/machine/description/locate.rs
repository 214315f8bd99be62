//! The positions of errors in the text.

use super::check::Flaw;
use crate::document::{DocumentError, Position};
use toml::de::DeTable;

/// A flaw in well-formed TOML, at its key.
pub fn placed(text: &str, flaw: Flaw) -> DocumentError {
    let at = offset_of(text, &flaw.key).unwrap_or(0);
    let problem = format!("{}: {}", flaw.key, flaw.problem);
    DocumentError::Syntax { position: Position::of(text.as_bytes(), at), problem }
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
