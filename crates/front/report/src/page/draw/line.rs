//! Wraps lines at blanks.

/// The minimum width: a narrower text would have one word a line.
pub const LEAST_COLUMNS: usize = 40;

/// A word without blanks, or a quoted command; and the blanks before it.
#[derive(Clone, Copy)]
struct Word<'a> {
    gap: usize,
    text: &'a str,
}

/// Wraps a line at this many columns. Later lines are indented to the text after a bullet or label.
/// A longer word, such as a path, has its own line, so it can be copied.
pub fn wrapped(line: &str, columns: usize) -> String {
    let columns = columns.max(LEAST_COLUMNS);
    if width(line) <= columns {
        return format!("{line}\n");
    }
    broken(line, columns, hang(line, columns)).join("\n") + "\n"
}

/// Each line is indented by `indent` blanks.
pub fn indented(text: &str, columns: usize, indent: usize) -> String {
    // A narrower column would have one word a line.
    let columns = columns.max(indent + 10);
    let lines = broken(&format!("{:indent$}{text}", ""), columns, indent);
    lines.into_iter().map(|line| line + "\n").collect()
}

/// A text in its own column.
pub fn in_column(text: &str, columns: usize) -> Vec<String> {
    broken(text, columns, mark(text))
}

/// Wraps a command at this many columns; lines end with a backslash, so a shell joins them.
pub fn command(line: &str, columns: usize) -> String {
    continued(line, columns, hang(line, columns)).join("\n") + "\n"
}

/// A command in its own column.
pub fn command_in_column(line: &str, columns: usize) -> Vec<String> {
    continued(line, columns, mark(line))
}

fn continued(line: &str, columns: usize, hang: usize) -> Vec<String> {
    if width(line) <= columns {
        return vec![line.to_owned()];
    }
    let mut lines = broken(line, columns.saturating_sub(2), hang);
    let last = lines.len().saturating_sub(1);
    lines.iter_mut().take(last).for_each(|line| line.push_str(" \\"));
    lines
}

/// Later lines are indented by `hang` blanks.
fn broken(line: &str, columns: usize, hang: usize) -> Vec<String> {
    let room = columns.saturating_sub(hang);
    let mut lines: Vec<String> = Vec::new();
    for word in words(line).into_iter().flat_map(|word| word.pieces(room)) {
        match lines.last_mut() {
            Some(last) if width(last) + word.gap + width(word.text) <= columns => {
                *last += &(" ".repeat(word.gap) + word.text);
            }
            Some(_) => lines.push(" ".repeat(hang) + word.text),
            None => lines.push(" ".repeat(word.gap) + word.text),
        }
    }
    lines
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn hang(line: &str, columns: usize) -> usize {
    let words = words(line);
    let Some(first) = words.first() else { return 0 };
    let mut at = first.gap + width(first.text);
    if is_mark(first.text) {
        return at + 1;
    }
    for word in words.iter().skip(1).take(3) {
        let begin = at + word.gap;
        if word.gap > 1 && begin <= columns / 2 {
            return begin;
        }
        at = begin + width(word.text);
    }
    first.gap + 2
}

/// The width of the bullet; 0 without one.
fn mark(text: &str) -> usize {
    match words(text).first() {
        Some(first) if is_mark(first.text) => first.gap + width(first.text) + 1,
        _ => 0,
    }
}

fn is_mark(word: &str) -> bool {
    let number = word.strip_suffix('.').unwrap_or_default();
    matches!(word, "-" | "->") || number.parse::<u8>().is_ok()
}

fn words(line: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word> = Vec::new();
    let mut gap = 0;
    let mut at = 0;
    // Half of a quoted command would be a different command.
    let mut quote = None;
    for text in line.split(' ') {
        let from = at;
        let to = from + text.len();
        at = to + 1;
        if text.is_empty() {
            gap += 1;
            continue;
        }
        match (quote.filter(|_| gap == 1), words.last_mut()) {
            (Some(begin), Some(word)) => {
                word.text = &line[begin..to];
                quote = quote.filter(|_| !ends_quote(text));
            }
            _ => {
                words.push(Word { gap, text });
                quote = opens_quote(text).then_some(from);
            }
        }
        gap = 1;
    }
    words
}

fn opens_quote(word: &str) -> bool {
    word.trim_start_matches('(').starts_with('\'') && !ends_quote(word)
}

fn ends_quote(word: &str) -> bool {
    word.trim_end_matches([',', '.', ';', ':', ')', '?']).ends_with('\'') && word.len() > 1
}

impl<'a> Word<'a> {
    /// Splits a long quotation at its blanks, a list after its commas; other words stay whole.
    fn pieces(self, room: usize) -> Vec<Word<'a>> {
        if width(self.text) <= room {
            return vec![self];
        }
        let is_list = self.text.chars().all(|c| c.is_ascii_digit() || ",-".contains(c));
        let texts: Vec<&str> = if is_list {
            self.text.split_inclusive(',').collect()
        } else {
            self.text.split(' ').collect()
        };
        let gaps = std::iter::once(self.gap).chain(std::iter::repeat(usize::from(!is_list)));
        texts.into_iter().zip(gaps).map(|(text, gap)| Word { gap, text }).collect()
    }
}
