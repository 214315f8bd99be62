//! The last filter of text for a terminal. All code that shows text of a file or another program
//! makes it visible itself, so that it cannot forge a line; this filter catches control sequences
//! if that is forgotten.

use seatmap_data::document::is_hidden;
use std::borrow::Cow;

/// Escapes every hidden character except line ends, tabs and colours.
pub fn printable(text: &str) -> Cow<'_, str> {
    // Nearly all text is clean and need not be copied.
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let kept = if c == '\u{1b}' { colour_bytes(rest) } else { 0 };
        let end = kept.max(c.len_utf8());
        if kept == 0 && is_escaped(c) {
            shown.extend(c.escape_default())
        } else {
            shown.push_str(&rest[..end])
        }
        rest = &rest[end..];
    }
    Cow::Owned(shown)
}

fn is_escaped(c: char) -> bool {
    !matches!(c, '\n' | '\t') && is_hidden(c)
}

/// A colour sequence (ECMA-48, "Select Graphic Rendition"); 0 without one.
fn colour_bytes(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':');
    match end {
        Some(end) if parameters[end..].starts_with('m') => "\u{1b}[".len() + end + "m".len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_commands_are_escaped() {
        let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}1m\u{202e}\r\u{0}\tb\n";
        let shown = printable(hostile);
        assert_eq!(shown, "a\\u{1b}[2J\\u{1b}]0;title\\u{7}\\u{9b}1m\\u{202e}\\r\\u{0}\tb\n");
        assert!(!shown.contains(is_escaped));
    }

    #[test]
    fn own_text_and_colours_are_unchanged() {
        for text in [
            "",
            "plain\ttable\n",
            "\u{1b}[38;2;1;2;3m▀\u{1b}[0m\u{1b}[m\n",
            "µs – naïve ❤\u{fe0f}\n",
        ] {
            assert_eq!(printable(text), text);
        }
    }
}
