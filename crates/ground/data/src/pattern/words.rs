//! The words of a text with their positions.

use crate::document::Position;

const QUOTED: usize = 24;

pub fn words(text: &str) -> impl Iterator<Item = (Position, &str)> {
    text.lines().enumerate().flat_map(|(at, line)| words_of_line(at + 1, line))
}

pub fn words_of_line(line: usize, text: &str) -> impl Iterator<Item = (Position, &str)> {
    text.split_whitespace().map(move |word| {
        // A word is a part of its line, so the difference of their addresses is the column.
        (Position { line, column: word.as_ptr().addr() - text.as_ptr().addr() + 1 }, word)
    })
}

pub fn quoted(word: &str) -> String {
    let start: String = word.chars().take(QUOTED).collect();
    let more = if start.len() < word.len() { "..." } else { "" };
    format!("'{start}{more}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_positions() {
        let found: Vec<_> =
            words("a  bc\r\n\n d").map(|(place, word)| format!("{place}: {word}")).collect();
        insta::assert_compact_debug_snapshot!(found, @r#"["line 1, column 1: a", "line 1, column 4: bc", "line 3, column 2: d"]"#);
    }
}
