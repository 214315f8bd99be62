//! The rows of a CSV file, each field with its position.

use super::error::{Reading, malformed};
use crate::document::Position;
use crate::pattern::words::words_of_line;
use std::borrow::Cow;

#[derive(Debug)]
pub struct CsvField<'a> {
    pub text: Cow<'a, str>,
    pub place: Position,
}

impl CsvField<'_> {
    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    pub fn is_word(&self) -> bool {
        !self.text.is_empty() && self.text.parse::<f64>().is_err()
    }
}

#[derive(Debug)]
pub struct CsvRow<'a> {
    pub fields: Vec<CsvField<'a>>,
    pub end: Position,
}

/// The rows of a text without empty lines and comments (`#`). The first row decides the separator:
/// tabs, else semicolons, else commas, else blanks.
pub fn rows(text: &str) -> impl Iterator<Item = Reading<CsvRow<'_>>> {
    let lines = text.lines().enumerate().filter(|(_, line)| is_row(line));
    let first = lines.clone().next().map_or("", |(_, line)| line);
    let separator =
        ['\t', ';', ','].into_iter().find(|separator| split(first, *separator).0.len() > 1);
    lines.map(move |(at, line)| row(at + 1, line, separator))
}

pub fn count(text: &str) -> usize {
    text.lines().filter(|line| is_row(line)).count()
}

fn is_row(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

fn row(line: usize, text: &str, separator: Option<char>) -> Reading<CsvRow<'_>> {
    let end = Position { line, column: text.trim_end().len() + 1 };
    let Some(separator) = separator else {
        let words = words_of_line(line, text);
        let fields = words.map(|(place, word)| bounded(CsvField { text: word.into(), place }));
        return Ok(CsvRow { fields: fields.collect::<Reading<_>>()?, end });
    };
    let (parts, is_closed) = split(text, separator);
    if !is_closed {
        let remedy = "close it on its line, or double it inside a quoted name";
        return malformed(end, "unclosed quotation mark", remedy);
    }
    let fields = parts.into_iter().map(|(offset, part)| bounded(field(line, offset, part)));
    Ok(CsvRow { fields: fields.collect::<Reading<_>>()?, end })
}

fn bounded(field: CsvField<'_>) -> Reading<CsvField<'_>> {
    let remedy = "write tasks as numbers or as short names";
    match crate::document::too_long(&field.text) {
        None => Ok(field),
        Some(problem) => malformed(field.place, problem, remedy),
    }
}

fn split(line: &str, separator: char) -> (Vec<(usize, &str)>, bool) {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut is_quoted = false;
    for (at, c) in line.char_indices() {
        // A doubled mark toggles twice, which changes nothing.
        is_quoted ^= c == '"';
        if c == separator && !is_quoted {
            parts.push((start, &line[start..at]));
            // All separators take one byte.
            start = at + 1;
        }
    }
    parts.push((start, &line[start..]));
    (parts, !is_quoted)
}

fn field(line: usize, offset: usize, part: &str) -> CsvField<'_> {
    let blanks = part.len() - part.trim_start().len();
    let blanks = if blanks == part.len() { 0 } else { blanks };
    let bare = part.trim();
    let inside = bare.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = match inside {
        Some(inside) if inside.contains("\"\"") => inside.replace("\"\"", "\"").into(),
        Some(inside) => inside.into(),
        None => bare.into(),
    };
    CsvField { text, place: Position { line, column: offset + blanks + 1 } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let row = |row: CsvRow| {
            let fields =
                row.fields.iter().map(|field| format!("{}={}", field.place.column, field.text));
            fields.collect::<Vec<_>>().join(" ")
        };
        rows(text).map(|found| row(found.unwrap())).collect()
    }

    #[test]
    fn separator_is_detected_by_precedence() {
        assert_eq!(all("a,b\n\n# no\n c , d\r\n"), ["1=a 3=b", "2=c 6=d"]);
        assert_eq!(all("a;1,5\n"), ["1=a 3=1,5"]);
        assert_eq!(all("a;\tb"), ["1=a; 4=b"]);
        assert_eq!(all("  1   2\n3 4"), ["3=1 7=2", "1=3 3=4"]);
        assert_eq!(all(",\n1, "), ["1= 2=", "1=1 3="]);
    }

    #[test]
    fn quotation_marks_protect_separators() {
        assert_eq!(all("\"a;b\",c\n\"say \"\"so\"\"\",2"), ["1=a;b 7=c", "1=say \"so\" 14=2"]);
        let refused = rows("a,b\n\"c,d\n").last().unwrap().unwrap_err().to_string();
        assert!(refused.starts_with("line 2, column 5: unclosed quotation mark"), "{refused}");
    }
}
