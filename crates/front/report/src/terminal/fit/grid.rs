//! A table that is there as text.

use super::line::StyledLine;
use crate::counted;

/// Fewer columns than this are not left to a column of words.
const LEAST_WORDS: usize = 24;

/// Rows of text with the columns that all of them keep.
pub(super) struct TextGrid<'a> {
    rows: &'a [StyledLine],
    columns: Vec<Column>,
}

/// A column of the table, from one column of the terminal to before another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    from: usize,
    to: usize,
    /// Whether its cells end below each other, as figures do, and not begin there.
    is_figures: bool,
    /// Whether a cell has several words.
    is_words: bool,
}

impl Column {
    fn width(self) -> usize {
        self.to - self.from
    }
}

impl<'a> TextGrid<'a> {
    /// The table that these lines are; `None` where no two columns can be told apart.
    pub fn of(rows: &'a [StyledLine]) -> Option<Self> {
        let width = rows.iter().map(StyledLine::width).max()?;
        let is_gap = |at: usize| rows.iter().all(|row| row.is_blank(at));
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let mut blanks = 2;
        for at in 0..width {
            if is_gap(at) {
                blanks += 1;
                continue;
            }
            match edges.last_mut() {
                // One blank stands between words.
                Some((_, to)) if blanks < 2 => *to = at + 1,
                _ => edges.push((at, at + 1)),
            }
            blanks = 0;
        }
        let columns: Vec<Column> =
            edges.into_iter().map(|(from, to)| column(rows, from, to)).collect();
        (columns.len() > 1).then_some(TextGrid { rows, columns })
    }

    /// The table in this many columns of the terminal.
    pub fn fitted(&self, room: usize) -> String {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.width()).collect();
        let mut shown: Vec<usize> = (0..widths.len()).collect();
        let last = widths.len() - 1;
        let has_words = self.columns[last].is_words && !self.columns[last].is_figures;
        // A column of words is broken within itself.
        if has_words {
            widths[last] = widths[last].min(LEAST_WORDS);
        }
        self.narrow(&mut widths, &shown, room, has_words);
        // The first column names the row, and the words at the end say what the row is about.
        while self.total(&widths, &shown) > room && shown.len() > 1 + usize::from(has_words) {
            shown.remove(shown.len() - 1 - usize::from(has_words));
        }
        let over = self.total(&widths, &shown).saturating_sub(room);
        widths[0] = widths[0].saturating_sub(over).max(1);
        if has_words {
            widths[last] = (room + widths[last]).saturating_sub(self.total(&widths, &shown));
        }
        let rows = self.rows.iter().map(|row| self.row(row, &widths, &shown)).collect::<String>();
        rows + &self.note(&shown, room)
    }

    /// Gives long names less room, as long as this is enough to show all columns.
    fn narrow(&self, widths: &mut [usize], shown: &[usize], room: usize, has_words: bool) {
        let names = 0..self.columns.len() - usize::from(has_words);
        let over = self.total(widths, shown).saturating_sub(room);
        let widest = names.filter(|at| !self.columns[*at].is_figures).max_by_key(|at| widths[*at]);
        if let Some(at) = widest.filter(|at| widths[*at] > room / 3) {
            widths[at] = widths[at].saturating_sub(over).max(room / 3);
        }
    }

    fn total(&self, widths: &[usize], shown: &[usize]) -> usize {
        let gaps = 2 * shown.len().saturating_sub(1);
        self.columns[0].from + shown.iter().map(|at| widths[*at]).sum::<usize>() + gaps
    }

    fn row(&self, row: &StyledLine, widths: &[usize], shown: &[usize]) -> String {
        let mut text = " ".repeat(self.columns[0].from);
        let mut begin = text.len();
        for (place, at) in shown.iter().enumerate() {
            let column = self.columns[*at];
            let cell = row.cell(column.from, column.to);
            let is_last = place + 1 == shown.len();
            if is_last && column.is_words && !column.is_figures {
                let lines = cell.broken(widths[*at], cell.mark());
                let gap = "\n".to_owned() + &" ".repeat(begin);
                text += &lines.join(&gap);
            } else {
                let cell = cell.cut(widths[*at]);
                text += &cell.padded(widths[*at], column.is_figures);
            }
            text += "  ";
            begin += widths[*at] + 2;
        }
        text.trim_end().to_owned() + "\n"
    }

    /// A line about the columns that are left out; nothing where there are none.
    fn note(&self, shown: &[usize], room: usize) -> String {
        let hidden: Vec<usize> = (0..self.columns.len()).filter(|at| !shown.contains(at)).collect();
        if hidden.is_empty() {
            return String::new();
        }
        let what = match self.heads(&hidden) {
            Some(heads) => heads.join(", "),
            None => counted(hidden.len(), "column"),
        };
        let indent = self.columns[0].from.min(2);
        let text = format!("{:indent$}(left out: {what}; --wide shows all)", "");
        super::sentence(&StyledLine::of(&text), room)
    }

    /// The heads of columns; `None` for a table without a line of heads.
    fn heads(&self, columns: &[usize]) -> Option<Vec<String>> {
        let heads: Vec<String> = columns
            .iter()
            .map(|at| {
                let column = self.columns[*at];
                self.rows[0].cell(column.from, column.to).text().trim().to_owned()
            })
            .collect();
        let is_head = |head: &String| head.starts_with(|c: char| c.is_alphabetic());
        let has_figures = self.rows.iter().skip(1).any(|row| {
            let figure = |at: &usize| row.cell(self.columns[*at].from, self.columns[*at].to).text();
            columns.iter().any(|at| figure(at).starts_with(|c: char| c.is_ascii_digit()))
        });
        (heads.iter().all(is_head) && has_figures).then_some(heads)
    }
}

fn column(rows: &[StyledLine], from: usize, to: usize) -> Column {
    let cells: Vec<StyledLine> =
        rows.iter().map(|row| row.cell(from, to)).filter(|cell| !cell.is_empty()).collect();
    let begin = rows.iter().filter(|row| !row.is_blank(from)).count();
    let end = rows.iter().filter(|row| !row.is_blank(to - 1)).count();
    Column {
        from,
        to,
        is_figures: end > begin,
        is_words: cells.iter().any(|cell| (0..cell.width()).any(|at| cell.is_blank(at))),
    }
}
