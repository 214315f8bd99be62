//! The limit on texts in documents, checked first.

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The longest text and key of a document, in bytes. A path has at most 4,096 (`PATH_MAX`); a list
/// of every second of 8,192 CPUs has about 20,000.
pub const MOST_TEXT_BYTES: usize = 1 << 15;

/// Why a text of a file is refused; `None` if it has at most [`MOST_TEXT_BYTES`].
pub fn too_long(text: &str) -> Option<String> {
    (text.len() > MOST_TEXT_BYTES).then(|| {
        let length = text.len();
        format!("a text of {length} B is too long; the limit is {MOST_TEXT_BYTES} B")
    })
}

/// Any value; reading it fails if one of its texts or keys is longer than [`MOST_TEXT_BYTES`].
struct BoundedTexts;

/// A value from JSON with limited texts and keys: a line of a journal, the report of another
/// program.
///
/// # Errors
/// Those of `serde_json`, and a text that is too long.
pub fn from_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let _: BoundedTexts = serde_json::from_str(text)?;
    serde_json::from_str(text)
}

/// The format of a document, read before its other keys. Reading fails if a text or key is longer
/// than [`MOST_TEXT_BYTES`].
#[derive(Debug)]
pub struct Outline {
    /// Name and version.
    pub format: String,
}

struct BoundedText(String);

impl<'de> Deserialize<'de> for BoundedTexts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(BoundedTexts)
    }
}

impl<'de> Deserialize<'de> for BoundedText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        checked(&text)?;
        Ok(BoundedText(text))
    }
}

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(OutlineVisitor)
    }
}

fn checked<E: de::Error>(text: &str) -> Result<(), E> {
    too_long(text).map_or(Ok(()), |problem| Err(E::custom(problem)))
}

struct OutlineVisitor;

impl<'de> Visitor<'de> for OutlineVisitor {
    type Value = Outline;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("an object with the key `format`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outline, A::Error> {
        let mut format = None;
        while let Some(BoundedText(key)) = map.next_key()? {
            if key == "format" {
                format = Some(map.next_value::<BoundedText>()?.0);
            } else {
                let BoundedTexts = map.next_value()?;
            }
        }
        let format = format.ok_or_else(|| de::Error::missing_field("format"))?;
        Ok(Outline { format })
    }
}

impl<'de> Visitor<'de> for BoundedTexts {
    type Value = BoundedTexts;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<BoundedTexts, E> {
        Ok(BoundedTexts)
    }

    fn visit_i64<E>(self, _: i64) -> Result<BoundedTexts, E> {
        Ok(BoundedTexts)
    }

    fn visit_u64<E>(self, _: u64) -> Result<BoundedTexts, E> {
        Ok(BoundedTexts)
    }

    fn visit_f64<E>(self, _: f64) -> Result<BoundedTexts, E> {
        Ok(BoundedTexts)
    }

    fn visit_unit<E>(self) -> Result<BoundedTexts, E> {
        Ok(BoundedTexts)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<BoundedTexts, E> {
        checked(text).map(|()| BoundedTexts)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<BoundedTexts, A::Error> {
        while let Some(BoundedTexts) = elements.next_element()? {}
        Ok(BoundedTexts)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<BoundedTexts, A::Error> {
        while map.next_key::<BoundedText>()?.is_some() {
            let BoundedTexts = map.next_value()?;
        }
        Ok(BoundedTexts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> bool {
        from_json::<serde_json::Value>(text).is_err()
    }

    #[test]
    fn text_length_is_limited_at_any_depth() {
        let fits = "y".repeat(MOST_TEXT_BYTES);
        let long = format!("{fits}y");
        for (text, is_refused) in [(&fits, false), (&long, true)] {
            for document in [
                format!("\"{text}\""),
                format!("{{\"a\":[1,{{\"b\":\"{text}\"}}]}}"),
                format!("[{{\"{text}\":null}},true,-1,0.5]"),
            ] {
                assert_eq!(refused(&document), is_refused, "{}", &document[..20]);
            }
        }
        // Escaped characters count once, not as their escapes.
        assert!(!refused(&format!("\"{}\"", "\\u0041".repeat(MOST_TEXT_BYTES))));
        assert!(refused(&format!("\"{}\"", "\\n".repeat(MOST_TEXT_BYTES + 1))));
    }

    #[test]
    fn long_text_error_names_its_line() {
        let document = format!("{{\n \"name\": \"{}\"}}", "y".repeat(1 << 20));
        let error = from_json::<serde_json::Value>(&document).unwrap_err();
        assert_eq!(error.line(), 2);
        assert!(error.to_string().starts_with("a text of 1048576 B"), "{error}");
    }

    #[test]
    fn deep_nesting_is_an_error() {
        assert!(refused(&("[".repeat(1 << 20) + &"]".repeat(1 << 20))));
    }
}
