//! Tables of words and figures.

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Left, for words.
    Left,
    /// Right, for figures.
    Right,
}

/// A table with two blanks before and between its columns; the head is the first row.
pub(super) fn table(align: &[Align], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..align.len()).map(|column| width(column).unwrap_or(0)).collect();
    let cell = |(column, text): (usize, &String)| match align.get(column) {
        Some(Align::Right) => format!("  {text:>0$}", widths[column]),
        Some(Align::Left) => format!("  {text:<0$}", widths[column]),
        None => format!("  {text}"),
    };
    let line = |row: &Vec<String>| {
        row.iter().enumerate().map(cell).collect::<String>().trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Words broken into lines of at most `width` characters, each behind `indent` blanks.
pub(super) fn wrap(text: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent).max(10);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                *line += &format!(" {word}")
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_below_each_other() {
        let rows = [["class", "ns"], ["same L3", "40.5"], ["other", "9.1"]]
            .map(|row| row.map(String::from).to_vec());
        assert_eq!(
            table(&[Align::Left, Align::Right], &rows),
            "  class      ns\n  same L3  40.5\n  other     9.1\n"
        );
    }

    #[test]
    fn words_are_not_broken() {
        assert_eq!(
            wrap("one two three incomprehensibilities", 12, 2),
            "  one two\n  three\n  incomprehensibilities\n"
        );
    }
}
