//! Attributes of an element, read one at a time.

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;
use std::borrow::Cow;

/// The most attributes looked at; hwloc writes about 20.
const MAX_ATTRIBUTES: usize = 64;

/// The value of an attribute, with its entities resolved; `Err` if invalid.
pub fn attribute<'a>(
    element: &'a BytesStart<'_>,
    name: &str,
) -> Result<Option<Cow<'a, str>>, String> {
    let mut attributes = element.attributes();
    // Checking for duplicates takes quadratic time; here the first of a name counts.
    for attribute in attributes.with_checks(false).take(MAX_ATTRIBUTES) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.key.as_ref() == name {
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| error.to_string())?;
            return crate::document::too_long(&value).map_or(Ok(Some(value)), Err);
        }
    }
    Ok(None)
}

pub fn parsed<T>(
    element: &BytesStart<'_>,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(value) = attribute(element, name)? else { return Ok(None) };
    parse(&value)
        .map(Some)
        .ok_or_else(|| format!("{name} cannot be '{}'", value.chars().take(24).collect::<String>()))
}

pub fn required<T>(
    element: &BytesStart<'_>,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, String> {
    parsed(element, name, parse)?.ok_or_else(|| {
        format!("<{}> has no {name}", element.name().as_ref().chars().take(24).collect::<String>())
    })
}
