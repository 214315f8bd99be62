//! Numbers, names and times in words, for all pages.

pub use crate::duration::{duration, time};
pub use crate::traffic::three_digits;
pub use seatmap_data::document::visible;
pub use seatmap_data::statistics::words::*;

/// A sentence with a capital letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// The number of things not shown, if any.
pub fn beyond(all: usize, shown: usize) -> Option<usize> {
    all.checked_sub(shown).filter(|more| *more > 0)
}

/// A text, or a dash instead of an empty one.
pub fn unless_empty(text: String) -> String {
    or_dash(Some(text).filter(|text| !text.is_empty()))
}

/// A dash without a value.
pub fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}
