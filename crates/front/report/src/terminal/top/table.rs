//! The columns of the table of `seatmap top`.

use super::row::TopRow;
use super::view::{Sort, TopView};
use crate::page::draw::cut_middle;
use crate::words::{figure, joined, or_dash, unless_empty};
use seatmap_data::document::{left_aligned, right_aligned};
use seatmap_watch::Finding;

struct Column {
    sort: Sort,
    title: &'static str,
    width: usize,
    is_text: bool,
}

const fn words(sort: Sort, title: &'static str, width: usize) -> Column {
    Column { sort, title, width, is_text: true }
}

const fn figures(sort: Sort, title: &'static str, width: usize) -> Column {
    Column { is_text: false, ..words(sort, title, width) }
}

/// Minimum widths; with the mark they fit into 80 columns.
const COLUMNS: [Column; 11] = [
    figures(Sort::Pid, "PID", 7),
    figures(Sort::Tid, "TID", 7),
    words(Sort::Name, "NAME", 12),
    figures(Sort::Cpu, "CPU", 4),
    words(Sort::Mask, "MASK", 6),
    words(Sort::Seat, "SEAT", 5),
    figures(Sort::Load, "LOAD%", 6),
    figures(Sort::Wait, "WAIT%", 5),
    figures(Sort::Switches, "SW/s", 5),
    figures(Sort::Migrations, "MIG/s", 5),
    figures(Sort::Wakeups, "WAKE/s", 6),
];

/// Columns added on wider screens.
const MORE_NAME: usize = 13;
const MORE_MASK: usize = 16;
const MORE_SEAT: usize = 8;

/// The column this far to the right, wrapping around.
pub fn beside(sort: Sort, places: isize) -> Sort {
    let at = COLUMNS.iter().position(|column| column.sort == sort).unwrap_or(0);
    COLUMNS[at.wrapping_add_signed(places + COLUMNS.len() as isize) % COLUMNS.len()].sort
}

/// The widths of the columns, and the rest, which shows the broken rule.
fn widths(width: usize) -> ([usize; 11], usize) {
    let mut widths = COLUMNS.map(|column| column.width);
    let mut left = width.saturating_sub(2 + widths.iter().sum::<usize>() + widths.len() - 1);
    // Names have up to 15 letters, indented by two in a tree.
    for (at, most) in [(2, MORE_NAME), (4, MORE_MASK), (5, MORE_SEAT)] {
        let more = left.min(most);
        widths[at] += more;
        left -= more;
    }
    (widths, left)
}

/// An arrow marks the column of the order.
pub fn titles(view: &TopView, width: usize) -> String {
    let (widths, left) = widths(width);
    let cells = COLUMNS.iter().zip(widths).map(|(column, width)| {
        let arrow = if view.is_reversed { '^' } else { 'v' };
        let title = if column.sort == view.sort {
            // In a full column, the arrow replaces the last letter.
            column.title.chars().take(width - 1).chain([arrow]).collect()
        } else {
            column.title.to_owned()
        };
        aligned(&title, width, column.is_text)
    });
    let mut line = format!("! {}", joined(cells, " "));
    if left > 8 {
        line += " RULE";
    }
    line
}

pub fn line(row: &TopRow, findings: &[Finding], view: &TopView, width: usize) -> String {
    let (widths, left) = widths(width);
    let finding = row.finding.and_then(|at| findings.get(at));
    let is_tagged = row.threads.iter().all(|tid| view.tagged.contains(tid));
    let mark = match finding {
        _ if is_tagged => '*',
        Some(finding) if finding.is_wrong() => '!',
        Some(_) => 'i',
        None => ' ',
    };
    let indent = if view.is_tree && row.id.tid.is_some() { "  " } else { "" };
    let texts = [
        row.id.pid.to_string(),
        row.id.tid.map_or_else(|| format!("({})", row.threads.len()), |tid| tid.to_string()),
        cut_middle(&format!("{indent}{}", row.name), widths[2]),
        or_dash(row.cpu),
        row.mask.clone(),
        unless_empty(row.seat.clone()),
        figure(row.load_percent, 1),
        or_dash(row.wait_percent.map(|percent| format!("{percent:.1}"))),
        rate(row.switches),
        or_dash(row.migrations.map(rate)),
        rate(row.wakeups),
    ];
    let cells = texts.iter().zip(widths).zip(&COLUMNS);
    let cells = cells.map(|((text, width), column)| aligned(text, width, column.is_text));
    let mut line = format!("{mark} {}", joined(cells, " "));
    if let Some(finding) = finding.filter(|_| left > 8) {
        line.push(' ');
        line += &finding.rule;
    }
    line
}

/// Events per second, in five characters.
pub fn rate(rate: f64) -> String {
    match rate {
        // Rounding gives 9.95 a second digit before the point, and 99999.5 a sixth.
        ..9.95 => format!("{rate:.1}"),
        ..99_999.5 => format!("{rate:.0}"),
        _ => format!("{:.0}k", rate / 1e3),
    }
}

fn aligned(text: &str, width: usize, is_text: bool) -> String {
    let text = cut(text, width);
    if is_text { left_aligned(&text, width) } else { right_aligned(&text, width) }
}

/// `~` replaces the rest.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        text.to_owned()
    } else {
        text.chars().take(width.saturating_sub(1)).chain(std::iter::once('~')).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_columns_fit_80_characters() {
        let (widths, left) = widths(80);
        assert_eq!(2 + widths.iter().sum::<usize>() + widths.len() - 1 + left, 80);
        assert!(titles(&TopView::default(), 80).chars().count() <= 80);
    }

    #[test]
    fn figures_and_names_fit_their_columns() {
        let rates = [0.0, 9.94, 9.96, 12_345.6, 1_234_567.0].map(rate);
        assert_eq!(rates, ["0.0", "9.9", "10", "12346", "1235k"]);
        assert_eq!((cut("abcdef", 4), cut("abcd", 4)), ("abc~".to_owned(), "abcd".to_owned()));
        let cut_names = ["compute-thread-07", "compute-thread-08"].map(|name| cut_middle(name, 12));
        assert_eq!(cut_names, ["comput~ad-07", "comput~ad-08"]);
        assert_eq!([4, 1, 0].map(|width| cut_middle("abcdef", width)), ["ab~f", "~", "~"]);
    }
}
