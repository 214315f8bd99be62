//! Documents as JSON text.

use seatmap_os::visible::is_hidden;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io;

/// JSON without spaces, and with control characters as `\u` escapes, so it can be shown on a
/// terminal.
struct Compact;

impl Formatter for Compact {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut units = [0; 2];
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_hidden(*c)) {
            to.write_all(&rest.as_bytes()[..at])?;
            // A character above U+FFFF takes two escapes (RFC 8259, section 7).
            c.encode_utf16(&mut units).iter().try_for_each(|unit| write!(to, "\\u{unit:04x}"))?;
            rest = &rest[at + c.len_utf8()..];
        }
        to.write_all(rest.as_bytes())
    }
}

/// A document as JSON on one line, with a line end. Hidden characters
/// ([`crate::document::is_hidden`]) in its strings are escaped.
pub fn written<T: Serialize + ?Sized>(document: &T) -> String {
    let mut text = Vec::new();
    // Serialising plain structs with string keys into memory cannot fail.
    let is_whole = document.serialize(&mut Serializer::with_formatter(&mut text, Compact)).is_ok();
    text.push(b'\n');
    is_whole.then(|| String::from_utf8(text).ok()).flatten().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprintable_characters_are_escaped_and_restored() {
        let name = "a\u{202e}b\u{9b}c\u{7f}\u{feff}\u{e0041}\n\"Ä\"机\\\u{2066}";
        let text = written(&[name]);
        assert_eq!(
            text,
            "[\"a\\u202eb\\u009bc\\u007f\\ufeff\\udb40\\udc41\\n\\\"Ä\\\"机\\\\\\u2066\"]\n"
        );
        assert_eq!(serde_json::from_str::<[String; 1]>(&text).unwrap(), [name]);
    }

    #[test]
    fn keys_are_escaped_and_document_fits_one_line() {
        let document = serde_json::json!({ "a\u{2028}b": [1, null, 2.5], "c": {} });
        assert_eq!(written(&document), "{\"a\\u2028b\":[1,null,2.5],\"c\":{}}\n");
    }
}
