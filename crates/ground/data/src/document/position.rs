//! A position in a text file.

use std::fmt;

/// Line and column, both counted from 1, the column in bytes as editors and compilers count ASCII.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Byte in the line.
    pub column: usize,
}

impl Position {
    /// The position of a byte of a text; the end of the text for an offset beyond it.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Position { line, column: before.len() - start + 1 }
    }

    /// The position after the last word of a text, for something missing.
    pub fn end(text: &str) -> Self {
        Position::of(text.as_bytes(), text.trim_end().len())
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_from_one_and_stops_at_end() {
        let places: Vec<_> =
            [0, 1, 2, 3, 99].map(|offset| Position::of(b"a\nbc", offset).to_string()).into();
        insta::assert_compact_debug_snapshot!(places, @r#"["line 1, column 1", "line 1, column 2", "line 2, column 1", "line 2, column 2", "line 2, column 3"]"#);
        assert_eq!(Position::end("ab\nc \n\n"), Position { line: 2, column: 2 });
    }
}
