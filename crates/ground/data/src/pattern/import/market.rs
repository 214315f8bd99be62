//! MatrixMarket, NIST's exchange format for matrices (Boisvert, Pozo & Remington 1996, NISTIR
//! 5935).
//!
//! Coordinates, or a dense array column by column, of real or whole numbers; coordinates may also
//! be a bare pattern (each entry is one byte). General or symmetric; a symmetric file has only the
//! lower triangle.

use super::Imported;
use super::entries::{ImportedEntries, amount};
use super::error::{FEWER_TASKS, Reading, malformed};
use crate::document::{Position, whole_number};
use crate::pattern::Edge;
use crate::pattern::graph::{MAX_TASKS, tasks_problem};
use crate::pattern::words::{quoted, words_of_line};
use crate::statistics::words::counted;

const HEADER: &str = "the first line must be %%MatrixMarket matrix coordinate|array \
                      real|integer|pattern general|symmetric";
const SIZES: &str = "the first line after the comments gives the numbers of rows, columns and, for \
                     coordinates, entries";
const ENTRIES: &str =
    "each line gives a row, a column and, unless the header says pattern, an amount";
const CELLS: &str = "an array has one amount for each cell, column by column; a symmetric one has \
                     only the lower triangle";
const LOWER: &str = "a symmetric file has only the lower triangle: swap row and column, or change \
                     the header to general";

const KNOWN: [&[&str]; 5] = [
    &["%%matrixmarket"],
    &["matrix"],
    &["coordinate", "array"],
    &["real", "integer", "pattern"],
    &["general", "symmetric"],
];

struct Header {
    n: usize,
    entries: Option<usize>,
    is_bare: bool,
    is_whole: bool,
    is_symmetric: bool,
}

/// Reads the text of such a file.
///
/// # Errors
/// `Malformed` for a file that is not such a matrix, or whose matrix is not a
/// pattern.
pub fn read(text: &str, name: &str) -> Reading<Imported> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with('%') && !line.trim().is_empty());
    let header = header(text, lines.next())?;
    let mut matrix = Matrix { entries: ImportedEntries::default(), header };
    match matrix.header.entries {
        Some(count) => matrix.coordinates(text, count, lines)?,
        None => matrix.array(text, lines.flat_map(|(at, line)| words_of_line(at, line)))?,
    }
    Ok(matrix.entries.pattern(name, matrix.header.n))
}

fn header(text: &str, sizes: Option<(usize, &str)>) -> Reading<Header> {
    let (at, first) =
        text.lines().enumerate().find(|(_, line)| !line.trim().is_empty()).unwrap_or((0, ""));
    let words: Vec<(Position, String)> = words_of_line(at + 1, first)
        .map(|(place, word)| (place, word.to_ascii_lowercase()))
        .collect();
    for (at, known) in KNOWN.iter().enumerate() {
        match words.get(at) {
            Some((_, word)) if known.contains(&word.as_str()) => {}
            Some((place, word)) => {
                return malformed(*place, format!("{} is not supported", quoted(word)), HEADER);
            }
            None => {
                return malformed(Position::end(first), "the first line is incomplete", HEADER);
            }
        }
    }
    // The format forbids it (Boisvert et al. 1996, "The Matrix Market Exchange Formats").
    if has_word(&words, "array") && has_word(&words, "pattern") {
        return malformed(words[3].0, "an array needs amounts, but a pattern has none", HEADER);
    }
    let (n, entries) = self::sizes(text, sizes, has_word(&words, "coordinate"))?;
    Ok(Header {
        n,
        entries,
        is_bare: has_word(&words, "pattern"),
        is_whole: has_word(&words, "integer"),
        is_symmetric: has_word(&words, "symmetric"),
    })
}

fn has_word(words: &[(Position, String)], word: &str) -> bool {
    words.iter().any(|(_, other)| other == word)
}

fn sizes(text: &str, line: Option<(usize, &str)>, sparse: bool) -> Reading<(usize, Option<usize>)> {
    let Some((at, line)) = line else {
        return malformed(Position::end(text), "the line with the sizes is missing", SIZES);
    };
    let numbers = words_of_line(at, line).map(|(place, word)| match whole_number::<usize>(word) {
        Some(number) => Ok(number),
        None => malformed(place, format!("{} is not a size", quoted(word)), SIZES),
    });
    let numbers = numbers.collect::<Reading<Vec<usize>>>()?;
    let (rows, columns, entries) = match numbers[..] {
        [rows, columns] if !sparse => (rows, columns, None),
        [rows, columns, entries] if sparse => (rows, columns, Some(entries)),
        _ => return wrong_sizes(at, format!("this line has {}", counted(numbers.len(), "size"))),
    };
    match rows {
        _ if rows != columns => wrong_sizes(
            at,
            format!(
                "{} and {}: the matrix must be square",
                counted(rows, "row"),
                counted(columns, "column")
            ),
        ),
        _ if !(1..=MAX_TASKS).contains(&rows) => {
            malformed(Position { line: at, column: 1 }, tasks_problem(rows), FEWER_TASKS)
        }
        _ => Ok((rows, entries)),
    }
}

fn wrong_sizes(at: usize, problem: String) -> Reading<(usize, Option<usize>)> {
    malformed(Position { line: at, column: 1 }, problem, SIZES)
}

struct Matrix {
    header: Header,
    entries: ImportedEntries,
}

impl Matrix {
    fn coordinates<'a>(
        &mut self,
        text: &str,
        promised: usize,
        lines: impl Iterator<Item = (usize, &'a str)>,
    ) -> Reading<()> {
        let mut count = 0;
        for (at, line) in lines {
            let words: Vec<(Position, &str)> = words_of_line(at, line).collect();
            let place = Position { line: at, column: 1 };
            let (from, to, bytes) = match (&words[..], self.header.is_bare) {
                ([from, to], true) => (self.index(from)?, self.index(to)?, 1.0),
                ([from, to, value], false) => {
                    (self.index(from)?, self.index(to)?, self.amount(value)?)
                }
                _ => {
                    return malformed(
                        place,
                        format!("this line has {}", counted(words.len(), "word")),
                        ENTRIES,
                    );
                }
            };
            // Such a file would count the pair twice.
            if self.header.is_symmetric && from < to {
                return malformed(place, "an entry above the diagonal", LOWER);
            }
            count += 1;
            // At each entry, before it is kept, because the header limits the memory for the file.
            if count > promised {
                return malformed(
                    place,
                    format!("more entries than the {promised} in the header"),
                    SIZES,
                );
            }
            self.add(place, from, to, bytes)?;
        }
        self.whole(text, count, promised, SIZES)
    }

    fn array<'a>(
        &mut self,
        text: &str,
        words: impl Iterator<Item = (Position, &'a str)>,
    ) -> Reading<()> {
        let n = self.header.n;
        let is_symmetric = self.header.is_symmetric;
        // The order is column by column, and from the diagonal down in a symmetric matrix.
        let mut cells = (0..n)
            .flat_map(|to| (if is_symmetric { to } else { 0 }..n).map(move |from| (from, to)));
        let mut count = 0;
        for (place, word) in words {
            let Some((from, to)) = cells.next() else {
                return malformed(place, "more amounts than cells", CELLS);
            };
            let bytes = self.amount(&(place, word))?;
            self.add(place, from, to, bytes)?;
            count += 1;
        }
        self.whole(text, count, if is_symmetric { n * (n + 1) / 2 } else { n * n }, CELLS)
    }

    fn whole(
        &self,
        text: &str,
        count: usize,
        promised: usize,
        remedy: &'static str,
    ) -> Reading<()> {
        if count == promised {
            Ok(())
        } else {
            malformed(
                Position::end(text),
                format!("the file ends after {count} of {}", counted(promised, "entry")),
                remedy,
            )
        }
    }

    fn add(&mut self, place: Position, from: usize, to: usize, bytes: f64) -> Reading<()> {
        let messages = f64::from(u8::from(bytes > 0.0));
        if self.header.is_symmetric && from != to {
            self.entries.add(place, Edge { from: to, to: from, bytes, messages })?;
        }
        self.entries.add(place, Edge { from, to, bytes, messages })
    }

    fn index(&self, (place, word): &(Position, &str)) -> Reading<usize> {
        let n = self.header.n;
        match whole_number::<usize>(word).filter(|index| (1..=n).contains(index)) {
            Some(index) => Ok(index - 1),
            None => {
                malformed(*place, format!("{} is not between 1 and {n}", quoted(word)), ENTRIES)
            }
        }
    }

    fn amount(&self, (place, word): &(Position, &str)) -> Reading<f64> {
        match amount(word) {
            Ok(number) if self.header.is_whole && number.fract() != 0.0 => {
                malformed(*place, format!("{} is not a whole number", quoted(word)), HEADER)
            }
            read => read.or_else(|problem| malformed(*place, problem, ENTRIES)),
        }
    }
}
