//! Draws a page as Markdown, for a job summary or a comment on a change: what GitHub and GitLab
//! show without pictures or scripts.

use crate::page::{Block, Medium, Page, PageSection, Table};
use crate::svg::intervals::{Interval, TITLE};
use crate::words::{joined, signed, visible};
use seatmap_data::document::left_aligned;

const AXIS: usize = 41;

impl Page {
    /// The page for a job summary or a comment on a change: the sections of a terminal, and charts
    /// of intervals.
    pub fn markdown(&self) -> String {
        let headline = format!("**{}**\n", escaped(&self.headline));
        let sections = self.sections.iter().map(section);
        let parts = [headline, paragraphs(&self.lead)].into_iter().chain(sections);
        joined(parts.filter(|part| !part.is_empty()), "\n")
    }
}

fn section(section: &PageSection) -> String {
    // A chart of intervals is for HTML only, but letters can draw it too.
    let blocks = section.drawn(Medium::Terminal).chain(
        section
            .drawn(Medium::Html)
            .filter(|block| section.only.is_some() && matches!(block, Block::Intervals(_))),
    );
    joined(blocks.map(block).filter(|text| !text.is_empty()), "\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(texts) => paragraphs(texts),
        Block::List(texts) => texts.iter().map(|text| format!("- {}\n", escaped(text))).collect(),
        Block::Table(rows) => table(rows),
        Block::Intervals(rows) => intervals(rows),
        Block::Matrix(_) | Block::Drawn(_) => {
            format!("```text\n{}```\n", super::text::block(block, None))
        }
        Block::Beside(blocks) => blocks.iter().map(|(_, beside)| self::block(beside)).collect(),
        Block::Curves { .. } | Block::Picture(_) => String::new(),
    }
}

fn paragraphs(texts: &[String]) -> String {
    joined(texts.iter().map(|text| format!("{}\n", escaped(text))), "\n")
}

fn table(table: &Table) -> String {
    let Table { columns, rows, .. } = table.in_terminal();
    let head = row(columns.iter().map(|column| escaped(&column.head)));
    let line = row(columns.iter().map(|column| if column.is_figures { "--:" } else { "---" }));
    let rows = rows.iter().map(|cells| row(cells.iter().map(|cell| escaped(&cell.text))));
    head + &line + &rows.collect::<String>()
}

fn row(cells: impl Iterator<Item: ToString>) -> String {
    format!("| {} |\n", joined(cells, " | "))
}

/// The position in letters.
fn place(value: f64, most: f64) -> usize {
    let share = 0.5 + 0.5 * (value / most).clamp(-1.0, 1.0);
    (share * (AXIS - 1) as f64).round() as usize
}

/// `|` is 0, `o` the difference, `-` its interval.
fn intervals(rows: &[Interval]) -> String {
    let ends = rows.iter().flat_map(|row| row.ends.into_iter().flatten().chain([row.centre]));
    let finite = ends.filter(|value| value.is_finite());
    let most = finite.map(f64::abs).fold(1e-9, f64::max);
    let names = Vec::from_iter(rows.iter().map(|row| visible(&row.name)));
    let width = names.iter().map(|name| name.chars().count()).fold(0, usize::max);
    let mut text = format!("```text\n{TITLE}, from {} to {}\n", signed(-most, 1), signed(most, 1));
    for (row, name) in rows.iter().zip(&names) {
        let mut letters = vec![' '; AXIS];
        if let Some([low, high]) = row.ends {
            letters[place(low, most)..=place(high.max(low), most)].fill('-');
        }
        letters[place(0.0, most)] = '|';
        letters[place(row.centre, most)] = 'o';
        let line: String = letters.into_iter().collect();
        text += &format!("{}  {}\n", left_aligned(name, width), line.trim_end());
    }
    // Backquotes in a name would end the block.
    let inner = text["```text\n".len()..].replace('`', "'");
    format!("```text\n{inner}```\n")
}

fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in visible(text).chars() {
        match letter {
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '&' => safe += "&amp;",
            // A name with an `@` would notify a person.
            '@' => safe += "&#64;",
            _ if "\\`*_[]|#~".contains(letter) => safe.extend(['\\', letter]),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{html_section, section};

    #[test]
    fn markdown_has_headline_tables_and_charts() {
        let row = |name: &str, centre, ends| Interval { name: name.to_owned(), centre, ends };
        let rows = vec![row("a", 5.0, Some([2.5, 10.0])), row("b`", -10.0, None)];
        let columns = Table::new("name | time:>");
        let page = Page {
            lead: vec!["2 blocks.".to_owned()],
            sections: vec![
                html_section("chart", Block::Intervals(rows)),
                section("table", columns.rows([["a|b", "<1>"]])),
                html_section("settings", vec!["left out".to_owned()]),
            ],
            ..Page::new("title", "It is @slower")
        };
        // The axis has 41 letters, with 0 in the middle.
        let [before, between] = [20, 19].map(|count| " ".repeat(count));
        let chart = format!(
            "```text\ndifference, %, from -10.0 to +10.0\na   {before}|    -----o----------\n\
             b'  o{between}|\n```\n"
        );
        assert_eq!(
            page.markdown(),
            format!(
                "**It is &#64;slower**\n\n2 blocks.\n\n{chart}\n| name | time |\n| --- | --: |\n\
                 | a\\|b | &lt;1&gt; |\n"
            )
        );
    }
}
