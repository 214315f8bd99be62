//! An error as one line of text.

use std::error::Error;

/// An error and its causes on one line, without the system's error numbers.
///
/// ```
/// let number = "x".parse::<i32>().unwrap_err();
/// assert_eq!(seatmap_data::document::with_causes(&number), "invalid digit found in string");
/// ```
pub fn with_causes(error: &dyn Error) -> String {
    let mut line = words(error);
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = words(error);
        // Some libraries repeat the cause in their own words.
        if !line.ends_with(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        cause = error.source();
    }
    line
}

fn words(error: &dyn Error) -> String {
    let mut text = error.to_string();
    if let Some((words, rest)) = text.rsplit_once(" (os error ")
        && let Some(number) = rest.strip_suffix(')')
        && number.parse::<i32>().is_ok()
    {
        text.truncate(words.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[derive(Debug, thiserror::Error)]
    #[error("{path}")]
    struct AtPath {
        path: &'static str,
        source: io::Error,
    }

    #[test]
    fn error_text_omits_os_error_numbers() {
        let source = io::Error::from_raw_os_error(2);
        assert_eq!(with_causes(&source), "No such file or directory");
        let at_path = AtPath { path: "x (os error 1) y", source };
        assert_eq!(with_causes(&at_path), "x (os error 1) y: No such file or directory");
        let file = AtPath { path: "(os error one)", source: io::Error::other("is (os error x)") };
        assert_eq!(with_causes(&file), "(os error one): is (os error x)");
    }
}
