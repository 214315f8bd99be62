//! Draws a page as text: wrapped to a terminal's columns, or with whole lines for a file or pipe.
//!
//! A table that is still too wide loses columns from the right and names them, so the least
//! important columns come last.

use super::line::{LEAST_COLUMNS, command_in_column, in_column, wrapped};
use crate::page::table::{TableCell, TextStyle};
use crate::page::{Block, Medium, Page, Table};
use crate::words::{counted, joined, visible};
use seatmap_data::document::{left_aligned, right_aligned};

const LEAST_WORDS: usize = 24;

impl Page {
    /// The page as text without its title, wrapped to a number of columns if given.
    pub fn text(&self, columns: Option<usize>) -> String {
        let columns = columns.map(|columns| columns.max(LEAST_COLUMNS));
        let headline = match self.gap_below_headline {
            Some(gap) => line(&self.headline, columns) + gap,
            None => String::new(),
        };
        let sections = self.sections.iter().map(|section| {
            section.drawn(Medium::Terminal).map(|block| self::block(block, columns)).collect()
        });
        let parts = std::iter::once(lines(&self.lead, columns)).chain(sections);
        headline + &joined(parts.filter(|part| !part.is_empty()), "\n")
    }
}

pub fn block(block: &Block, columns: Option<usize>) -> String {
    match block {
        Block::Text(texts) => lines(texts, columns),
        Block::List(texts) => {
            texts.iter().map(|text| line(&format!("- {text}"), columns)).collect()
        }
        Block::Table(rows) => table(rows, columns),
        Block::Matrix(matrix) => {
            line(&matrix.heading(), columns) + &table(&matrix.table(), columns)
        }
        Block::Drawn(text) => text.clone(),
        Block::Beside(blocks) => {
            blocks.iter().map(|(_, beside)| self::block(beside, columns)).collect()
        }
        // In a terminal, tables and sentences contain the same figures.
        Block::Intervals(_) | Block::Curves { .. } | Block::Picture(_) => String::new(),
    }
}

fn lines(texts: &[String], columns: Option<usize>) -> String {
    texts.iter().map(|text| line(text, columns)).collect()
}

fn line(text: &str, columns: Option<usize>) -> String {
    wrapped(&visible(text), columns.unwrap_or(usize::MAX))
}

/// A table as text; empty without rows.
pub fn table(table: &Table, columns: Option<usize>) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let table = with_head(table);
    let least = table.columns.iter().map(|column| column.least);
    let widths = Vec::from_iter(
        table.widths().into_iter().zip(least).map(|(width, least)| width.max(least)),
    );
    let widest = table.rows.iter().map(|row| table.length(row, &widths)).max().unwrap_or(0);
    match columns {
        Some(columns) if widest > columns => table.fitted(columns),
        _ => table.drawn(&widths, &Vec::from_iter(0..widths.len())),
    }
}

/// The columns of a terminal, with the heads, if any, as the first row.
fn with_head(table: &Table) -> Table {
    let mut table = table.in_terminal();
    table.rows.iter_mut().flatten().for_each(|cell| cell.text = visible(&cell.text));
    if table.columns.iter().any(|column| !column.head.is_empty()) {
        let heads = table.columns.iter().map(|column| column.head.as_str().into());
        table.rows.insert(0, heads.collect());
    }
    table
}

impl Table {
    /// Whether the column can be wrapped.
    fn is_words(&self, column: usize) -> bool {
        !self.columns[column].is_figures
            && self.rows.iter().any(|row| row[column].text.contains(' '))
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.columns.len())
            .map(|at| self.rows.iter().map(|row| row[at].width()).max().unwrap_or(0))
            .collect()
    }

    /// The length to the end of the last cell, in letters.
    fn length(&self, row: &[TableCell], widths: &[usize]) -> usize {
        let Some(last) = row.iter().rposition(|cell| !cell.text.is_empty()) else { return 0 };
        let width = if self.columns[last].is_figures { widths[last] } else { row[last].width() };
        let before = widths[..last].iter().map(|width| width + self.gap()).sum::<usize>();
        self.indent() + before + width
    }

    fn total(&self, widths: &[usize], shown: &[usize]) -> usize {
        let gaps = self.gap() * shown.len().saturating_sub(1);
        self.indent() + shown.iter().map(|at| widths[*at]).sum::<usize>() + gaps
    }

    fn fitted(&self, room: usize) -> String {
        let mut widths = self.widths();
        let filled = Vec::from_iter((0..widths.len()).filter(|at| widths[*at] > 0));
        let mut shown = filled.clone();
        let (Some(first), Some(last)) = (filled.first(), filled.last()) else {
            return String::new();
        };
        let words = Some(*last).filter(|last| self.is_words(*last) && last != first);
        if let Some(last) = words {
            widths[last] = widths[last].min(LEAST_WORDS);
        }
        self.narrow(&mut widths, &shown, words, room);
        let kept = 1 + usize::from(words.is_some());
        while self.total(&widths, &shown) > room && shown.len() > kept {
            shown.remove(shown.len() - kept);
        }
        let over = self.total(&widths, &shown).saturating_sub(room);
        widths[*first] = widths[*first].saturating_sub(over).max(1);
        if let Some(last) = words {
            widths[last] = (room + widths[last]).saturating_sub(self.total(&widths, &shown));
        }
        let hidden = Vec::from_iter(filled.into_iter().filter(|at| !shown.contains(at)));
        self.drawn(&widths, &shown) + &self.note(&hidden, room)
    }

    fn narrow(&self, widths: &mut [usize], shown: &[usize], words: Option<usize>, room: usize) {
        let over = self.total(widths, shown).saturating_sub(room);
        let names = shown.iter().filter(|at| !self.columns[**at].is_figures && Some(**at) != words);
        let widest = names.max_by_key(|at| widths[**at]);
        if let Some(at) = widest.filter(|at| widths[**at] > room / 3) {
            widths[*at] = widths[*at].saturating_sub(over).max(room / 3);
        }
    }

    fn drawn(&self, widths: &[usize], shown: &[usize]) -> String {
        let mut lines = Vec::from_iter(self.rows.iter().map(|row| self.line(row, widths, shown)));
        if self.is_outdented {
            let title = &self.rows[0][0].text;
            lines[0] = lines[0].replacen(&format!("  {title}"), &format!("{title}  "), 1);
        }
        lines.concat()
    }

    /// The last cell may take several lines.
    fn line(&self, row: &[TableCell], widths: &[usize], shown: &[usize]) -> String {
        let gap = " ".repeat(self.gap());
        let mut text = " ".repeat(self.indent());
        let mut begin = text.len();
        for at in shown {
            let cell = &row[*at];
            let width = widths[*at];
            text += &if Some(at) == shown.last() && self.is_words(*at) {
                let lines =
                    if cell.look == TextStyle::Code { command_in_column } else { in_column };
                lines(&cell.text, width).join(&format!("\n{:begin$}", ""))
            } else {
                let is_figures = self.columns[*at].is_figures;
                let aligned = if is_figures { right_aligned } else { left_aligned };
                painted(&aligned(&cut_middle(&cell.text, width), width), cell.look)
            };
            text += &gap;
            begin += width + gap.len();
        }
        text.trim_end().to_owned() + "\n"
    }

    fn note(&self, hidden: &[usize], room: usize) -> String {
        if hidden.is_empty() {
            return String::new();
        }
        let heads = Vec::from_iter(hidden.iter().map(|at| self.columns[*at].head.as_str()));
        let what =
            if heads.contains(&"") { counted(hidden.len(), "column") } else { heads.join(", ") };
        let indent = self.indent();
        wrapped(&format!("{:indent$}(left out: {what}; --wide shows all)", ""), room)
    }
}

fn painted(text: &str, look: TextStyle) -> String {
    match look {
        TextStyle::Painted(colour) => format!("\u{1b}[{colour}m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}

/// Replaces the middle by `~`: related names usually begin alike and end with a number.
pub fn cut_middle(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let end = width.saturating_sub(1) / 2;
    let begin = width.saturating_sub(end + 1);
    let kept = text.chars().take(begin).chain(['~']);
    kept.chain(text.chars().skip(length - end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{html_section, section};
    #[test]
    fn figures_are_right_aligned() {
        let rows = [["same L3", "40.5", "x"], ["other", "9.1", "y"]];
        let columns = Table::new("class | ns:>6 | page");
        assert_eq!(
            table(&columns.page_only(2).rows(rows), None),
            "  class        ns\n  same L3    40.5\n  other       9.1\n"
        );
    }

    #[test]
    fn blank_line_separates_drawn_sections() {
        let page = Page {
            lead: vec!["2 nodes.".to_owned()],
            sections: vec![
                html_section("a", vec!["no".to_owned()]),
                section("b", Block::List(vec!["one".to_owned(), "t\u{1b}wo".to_owned()])),
                section("c", Vec::new()),
                section("d", vec!["three".to_owned()]),
            ],
            ..Page::new("title", "headline")
        };
        assert_eq!(page.text(None), "2 nodes.\n\n- one\n- t\\u{1b}wo\n\nthree\n");
    }
}
