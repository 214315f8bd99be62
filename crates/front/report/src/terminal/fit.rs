//! Text fitted into the columns of a terminal.
//!
//! Reports are made at their natural width, which files and pipes get. For a terminal, [`fit`]
//! breaks sentences at blanks, and rows of tables within their last column. A table that is still
//! too wide loses columns from the right, and says which: columns stand in the order of their
//! weight. A run of lines whose cells are two blanks apart is a table, whoever made it, so that
//! reports of all rooms are fitted alike.

mod grid;
mod line;

use grid::TextGrid;
use line::{StyledLine, sentence};

/// Fewer columns than this are treated as this many: a narrower text is a word a line.
pub const LEAST_COLUMNS: usize = 40;

/// The text with lines of at most this many columns. A path or another word that is longer has a
/// line of its own, so that it can be copied.
#[must_use]
pub fn fit(text: &str, columns: usize) -> String {
    let columns = columns.max(LEAST_COLUMNS);
    let lines: Vec<StyledLine> = text.lines().map(StyledLine::of).collect();
    let mut fitted = String::with_capacity(text.len());
    let mut rest = &lines[..];
    while let Some(first) = rest.first() {
        let (block, after) = rest.split_at(block_lines(rest));
        rest = after;
        if block.iter().all(|line| line.width() <= columns) {
            block.iter().for_each(|line| fitted += &line.text());
        } else if let Some(table) = TextGrid::of(block) {
            fitted += &table.fitted(columns);
        } else {
            let more = block[1..].iter();
            fitted += &sentence(first, columns);
            fitted.extend(more.map(|line| sentence(line, columns)));
        }
    }
    fitted
}

/// The number of lines that begin the text and belong together: the rows of a table with what is
/// indented below a row, or one line.
fn block_lines(lines: &[StyledLine]) -> usize {
    if !lines[0].is_row() {
        return 1;
    }
    let indent = lines[0].indent();
    let belongs = |line: &&StyledLine| line.is_row() || line.indent() > indent + 1;
    lines.iter().take_while(|line| !line.is_empty()).take_while(belongs).count()
}

#[cfg(test)]
mod tests;
