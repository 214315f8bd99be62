//! Lines of words.

/// Words broken into lines of at most `width` characters, each behind `indent` blanks.
pub(super) fn wrap(text: &str, width: usize, indent: usize) -> String {
    // A narrower column would hold a word a line.
    let room = width.saturating_sub(indent).max(10);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            // A word longer than the line has one of its own and is not broken: it may be a command
            // or path.
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                *line += &format!(" {word}")
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| " ".repeat(indent) + line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_not_broken() {
        assert_eq!(
            wrap("one two three incomprehensibilities", 12, 2),
            "  one two\n  three\n  incomprehensibilities\n"
        );
    }
}
