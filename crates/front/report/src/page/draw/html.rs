//! Draws a page as one HTML file.

use crate::html::document::{document, head};
use crate::page::table::{TableCell, TableColumn, TextStyle};
use crate::page::{Block, Medium, Page, PageSection, Table};
use crate::svg::Title;
use crate::svg::curves::curves;
use crate::svg::intervals::intervals;
use crate::{AxisUnit, words};
use maud::{Markup, html};

impl Page {
    /// The page as one HTML file, which works offline and without scripts.
    pub fn html(&self) -> String {
        document(&self.title, &self.markup(), "", "null")
    }

    fn markup(&self) -> Markup {
        let lead = html! { @for line in &self.lead { p.lead { (line) } } };
        html! {
            (head(&self.title, &self.headline, &lead))
            main { (sections(&self.sections)) }
            footer { (self.footer) }
        }
    }
}

/// Adjacent narrow sections are in columns.
pub fn sections(sections: &[PageSection]) -> Markup {
    let drawn = Vec::from_iter(
        sections.iter().filter(|section| section.drawn(Medium::Html).next().is_some()),
    );
    html! {
        // Only neighbours share columns, to keep the order of the sections.
        @for group in drawn.chunk_by(|a, b| a.is_narrow == b.is_narrow) {
            // A single narrow section would leave the other column empty.
            @if group[0].is_narrow && group.len() > 1 {
                div.columns { @for narrow in group { (section(narrow)) } }
            } @else {
                @for wide in group { (section(wide)) }
            }
        }
    }
}

fn section(section: &PageSection) -> Markup {
    html! {
        section.card {
            @if !section.title.is_empty() {
                h2 { (section.title) @if !section.unit.is_empty() { span.unit { (section.unit) } } }
            }
            @for one in section.drawn(Medium::Html) { (block(one)) }
        }
    }
}

fn block(block: &Block) -> Markup {
    html! {
        @match block {
            Block::Text(lines) => { @for line in lines { p { (line) } } }
            Block::List(lines) => ul.findings { @for line in lines { li { (line) } } }
            Block::Table(rows) => (table(rows)),
            Block::Matrix(matrix) => (matrix.picture()),
            Block::Intervals(rows) => (intervals(rows)),
            Block::Curves { curves: them, across, up } => {
                (curves(them, Title { text: across, unit: AxisUnit::Whole }, *up))
            }
            Block::Picture(picture) => (picture),
            Block::Drawn(_) => {}
            Block::Beside(blocks) => div.halves {
                @for (title, beside) in blocks {
                    figure { figcaption { (title) } (self::block(beside)) } }
            }
        }
    }
}

pub fn table(table: &Table) -> Markup {
    let has_head = table.columns.iter().any(|column| !column.head.is_empty());
    html! {
        table.(if table.is_facts { "facts" } else { "figures" }) {
            @if has_head {
                thead { tr { @for column in &table.columns {
                    th.wide[!column.is_figures] { (capital(&column.head)) }
                } } }
            }
            tbody { @for row in &table.rows { tr {
                @for (at, column) in table.columns.iter().enumerate() {
                    (cell(column, &row[at], at == 0)) }
            } } }
        }
    }
}

/// A quantity such as `p99` keeps its small letter.
fn capital(head: &str) -> String {
    let is_word = head.chars().nth(1).is_some_and(char::is_lowercase);
    if is_word { words::capital(head) } else { head.to_owned() }
}

fn cell(column: &TableColumn, cell: &TableCell, is_first: bool) -> Markup {
    let tip = cell.tip.as_deref();
    html! {
        // A screen reader reads the row's name before each figure.
        @if is_first {
            @let class = if column.is_figures { "whole" } else { "wide" };
            th.(class) scope="row" title=[tip] { (inside(cell)) }
        } @else {
            td.wide[!column.is_figures] title=[tip] { (inside(cell)) }
        }
    }
}

fn inside(cell: &TableCell) -> Markup {
    let text = &cell.text;
    html! {
        @if let Some((word, class)) = cell.level { span.level.(class) { (word) } " " }
        @match cell.look {
            TextStyle::Plain | TextStyle::Painted(_) => (text),
            TextStyle::Strong => strong { (text) },
            TextStyle::Code => code { (text) },
            // The longest bar leaves a third of the cell for the figure.
            TextStyle::Bar(share) => div.measure { span.bar
                style=(format!("width:{:.1}%", 65.0 * share)) {} span { (text) } },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::capital;

    #[test]
    fn words_are_capitalized_and_units_unchanged() {
        let heads = ["to best", "p99", "8 B", "CPU", "rate", ""].map(capital);
        assert_eq!(heads, ["To best", "p99", "8 B", "CPU", "Rate", ""]);
    }
}
