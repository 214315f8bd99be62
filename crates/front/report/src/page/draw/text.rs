//! A page as text.

use crate::page::{Block, Medium, Page, Table};
use seatmap_data::document::{left_aligned, right_aligned, visible};

/// The page without its title and headline: lines, sections with a blank line between two.
pub(crate) fn text(page: &Page) -> String {
    let lead = lines(&page.lead, "");
    let sections = page.sections.iter();
    let drawn = sections.map(|section| section.drawn(Medium::Terminal).map(block).collect());
    let parts = std::iter::once(lead).chain(drawn);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(texts) => lines(texts, ""),
        Block::List(texts) => lines(texts, "- "),
        Block::Table(rows) => table(rows),
        Block::Matrix(matrix) => matrix.text(),
        Block::Beside(blocks) => blocks.iter().map(|(_, beside)| self::block(beside)).collect(),
        // A terminal has the same figures in tables and sentences.
        Block::Intervals { .. } | Block::Curves { .. } | Block::Picture(_) => String::new(),
    }
}

fn lines(texts: &[String], mark: &str) -> String {
    texts.iter().map(|text| format!("{mark}{}\n", visible(text))).collect()
}

/// A table with two blanks before and between its columns; nothing where it has no rows.
pub(crate) fn table(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let shown = table.shown(Medium::Terminal);
    let head = shown.iter().map(|at| table.columns[*at].head.clone()).collect::<Vec<_>>();
    let cells = table.rows.iter().map(|row| shown.iter().map(|at| visible(&row[*at].text)));
    let rows: Vec<Vec<String>> = std::iter::once(head)
        // A table whose columns explain themselves has no line of heads.
        .filter(|head| head.iter().any(|word| !word.is_empty()))
        .chain(cells.map(Iterator::collect))
        .collect();
    let mut text = vec![String::new(); rows.len()];
    for (place, at) in shown.into_iter().enumerate() {
        let column = &table.columns[at];
        let widths = rows.iter().map(|row| row[place].chars().count());
        let width = widths.fold(column.least, usize::max);
        for (line, row) in text.iter_mut().zip(&rows) {
            let cell = &row[place];
            // Figures end at the right, so that digits of equal weight stand below each other.
            let aligned = if column.is_figures { right_aligned } else { left_aligned };
            *line += "  ";
            *line += &aligned(cell, width);
        }
    }
    // A title of the table stands where lines begin.
    if table.is_outdented {
        text[0] = text[0].replacen(&format!("  {}", rows[0][0]), &format!("{}  ", rows[0][0]), 1);
    }
    text.into_iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PageSection;
    #[test]
    fn figures_stand_below_each_other() {
        let rows = [["same L3", "40.5", "x"], ["other", "9.1", "y"]];
        let columns = Table::default().words(["class"]).figures(["ns"]).words(["page"]);
        assert_eq!(
            table(&columns.least([0, 6]).page_only(2).rows(rows)),
            "  class        ns\n  same L3    40.5\n  other       9.1\n"
        );
    }

    #[test]
    fn a_blank_line_stands_between_sections_that_are_drawn() {
        let page = Page {
            lead: vec!["2 nodes.".to_owned()],
            sections: vec![
                PageSection::page("a").with(vec!["no".to_owned()]),
                PageSection::new("b")
                    .with(Block::List(vec!["one".to_owned(), "t\u{1b}wo".to_owned()])),
                PageSection::new("c").with(Vec::new()),
                PageSection::new("d").with(vec!["three".to_owned()]),
            ],
            ..Page::new("title", "headline")
        };
        assert_eq!(text(&page), "2 nodes.\n\n- one\n- t\\u{1b}wo\n\nthree\n");
    }
}
