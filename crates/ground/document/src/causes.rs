//! An error as one line of text.

use std::error::Error;

/// An error and its causes on one line.
///
/// ```
/// let number = "x".parse::<i32>().unwrap_err();
/// assert_eq!(seatmap_document::with_causes(&number), "invalid digit found in string");
/// ```
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // Some libraries repeat the cause in their own words.
        if !line.ends_with(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        cause = error.source();
    }
    line
}
