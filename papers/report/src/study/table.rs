//! Tables of a study: one figure under several conditions, with a row for each.

use super::{column, line, number, prose, with_program};
use seatmap_data::document::left_aligned;
use serde::{Deserialize, Serialize};

/// The word in a row's command that each column replaces.
const COLUMN: &str = "COLUMN";

/// A table as written in a study's file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyTable {
    /// A title.
    pub title: String,
    /// The figures' meaning, and how to read them.
    pub about: String,
    /// The heading of the column with the rows' names.
    pub rows: String,
    /// A pointer to the figure in each command's JSON (RFC 6901).
    pub value: String,
    /// Each figure's divisor, if any.
    #[serde(default)]
    pub per: Option<f64>,
    /// The columns.
    pub column: Vec<Column>,
    /// The rows.
    pub row: Vec<TableRow>,
    /// Whether a last row multiplies the first row by the published ratio minus one.
    #[serde(default)]
    pub has_excess: bool,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Its replacement for COLUMN in the rows' commands.
    pub word: String,
    /// The published figure, or the ratio for the last row.
    #[serde(default)]
    pub published: Option<f64>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// Its name.
    pub what: String,
    /// The command, with COLUMN for the column's word.
    pub command: String,
    /// A remark on the row.
    #[serde(default)]
    pub note: Option<String>,
}

/// A table with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilledTable {
    /// Its title.
    pub title: String,
    #[serde(skip)]
    about: String,
    #[serde(skip)]
    heading: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<FoundRow>,
    #[serde(skip)]
    has_excess: bool,
}

/// A row with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundRow {
    /// Its name.
    pub what: String,
    /// Its commands, one per column.
    pub commands: Vec<String>,
    /// Its figures, one per column.
    pub ours: Vec<f64>,
    #[serde(skip)]
    note: Option<String>,
}

impl StudyTable {
    /// A row's commands, without the program's name, one per column.
    pub fn commands(&self, row: &TableRow) -> Vec<String> {
        self.column.iter().map(|column| row.command.replace(COLUMN, &column.word)).collect()
    }

    /// Fills the table with its commands' figures.
    ///
    /// # Errors
    /// The errors of `run`, which returns a command's figure.
    pub fn filled<E>(&self, mut run: impl FnMut(&str) -> Result<f64, E>) -> Result<FilledTable, E> {
        let mut rows = Vec::with_capacity(self.row.len());
        for row in &self.row {
            let commands = self.commands(row);
            // `per` converts a whole run's figure, for example to a packet's.
            let ours = commands.iter().map(|command| Ok(run(command)? / self.per.unwrap_or(1.0)));
            rows.push(FoundRow {
                what: row.what.clone(),
                ours: ours.collect::<Result<_, E>>()?,
                commands: commands.iter().map(|command| with_program(command)).collect(),
                note: row.note.clone(),
            });
        }
        Ok(FilledTable {
            title: self.title.clone(),
            about: self.about.clone(),
            heading: self.rows.clone(),
            columns: self.column.clone(),
            rows,
            has_excess: self.has_excess,
        })
    }
}

impl FilledTable {
    /// Each figure: its row, its column, the value, and the command.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &str, f64, &str)> {
        self.rows.iter().flat_map(|row| {
            let figures = self.columns.iter().zip(&row.ours).zip(&row.commands);
            figures.map(|((column, ours), command)| {
                (row.what.as_str(), column.name.as_str(), *ours, command.as_str())
            })
        })
    }

    /// Name and figures of each line, starting with the published ones.
    fn lines(&self) -> Vec<(&str, Vec<Option<f64>>)> {
        let published: Vec<Option<f64>> =
            self.columns.iter().map(|column| column.published).collect();
        let ours = self
            .rows
            .iter()
            .map(|row| (row.what.as_str(), row.ours.iter().copied().map(Some).collect()));
        match (self.has_excess, self.rows.first()) {
            // The published row is a ratio without the others' unit, so it is shown as its meaning
            // for the first row.
            (true, Some(first)) => {
                let excess = published
                    .iter()
                    .zip(&first.ours)
                    .map(|(ratio, ours)| ratio.map(|ratio| (ratio - 1.0) * ours));
                let last = (
                    "what the published worst mapping takes beyond the first row",
                    excess.collect(),
                );
                ours.chain([last]).collect()
            }
            _ => [("published", published)]
                .into_iter()
                .filter(|(_, all)| all.iter().any(Option::is_some))
                .chain(ours)
                .collect(),
        }
    }

    fn growth(figures: &[Option<f64>]) -> Option<f64> {
        // Two checks: that there is a column, and that its figure is known.
        let first = figures.first().copied()??;
        let last = figures.last().copied()??;
        (figures.len() > 1).then_some(last / first)
    }

    /// The table as text for the terminal.
    pub fn text(&self) -> String {
        let lines: Vec<(String, _)> =
            self.lines().into_iter().map(|(what, all)| (line(what), all)).collect();
        let width = lines.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
        let mut text = format!("\n{}\n{}", line(&self.title), left_aligned("", width));
        for column in &self.columns {
            text += &format!("  {:>8}", line(&column.name));
        }
        text += "    growth\n";
        for (what, figures) in lines {
            text += &left_aligned(&what, width);
            for figure in &figures {
                text += &format!("  {:>8}", figure.map_or_else(String::new, number));
            }
            text += &format!("  {:>8}\n", Self::growth(&figures).map_or_else(String::new, number));
        }
        text
    }

    /// The table as a section of a page.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "\n## {}\n\n{}\n\n| {} |",
            column(&self.title),
            prose(&self.about),
            column(&self.heading)
        );
        let names = self.columns.iter().map(|of| format!(" {} |", column(&of.name)));
        text += &names.collect::<String>();
        text += &format!(" last over first |\n|---|{}---|\n", "---|".repeat(self.columns.len()));
        for (what, figures) in self.lines() {
            text += &format!("| {} |", column(what));
            for figure in figures.iter().copied().chain([Self::growth(&figures)]) {
                text += &format!(" {} |", figure.map_or_else(String::new, number));
            }
            text += "\n";
        }
        let noted = self.rows.iter().filter_map(|row| Some((&row.what, row.note.as_ref()?)));
        let notes: String = noted
            .map(|(what, note)| format!("- **{}**: {}\n", column(what), column(note)))
            .collect();
        if notes.is_empty() { text } else { text + "\n" + &notes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(has_excess: bool) -> FilledTable {
        let column = |name: &str, published| Column {
            name: name.into(),
            word: name.into(),
            published: Some(published),
        };
        let row = |what: &str, note: Option<&str>| TableRow {
            what: what.into(),
            command: format!("rank --packet COLUMN --set {what}"),
            note: note.map(str::to_owned),
        };
        let table = StudyTable {
            title: "Spread".into(),
            about: "Worst over best.".into(),
            rows: "mechanism".into(),
            value: "/best_to_worst".into(),
            per: Some(2.0),
            column: vec![column("2k", 3.0), column("512", 9.0)],
            row: vec![row("levels=1", Some("Nothing.")), row("levels=3", None)],
            has_excess,
        };
        // A command's length serves as its figure.
        table.filled(|command| Ok::<f64, ()>(command.len() as f64)).unwrap()
    }

    #[test]
    fn each_row_has_one_command_per_column() {
        let table = table(false);
        let cells: Vec<_> = table.cells().collect();
        let command = "seatmap-papers rank --packet 512 --set levels=1";
        assert_eq!(cells[1], ("levels=1", "512", 16.0, command));
        assert_eq!(cells.len(), 4);
    }

    #[test]
    fn page_lists_published_figures_first() {
        let page = table(false).markdown();
        let rows = "| mechanism | 2k | 512 | last over first |\n|---|---|---|---|\n| published | 3.000 | 9.000 | 3.000 |\n\
                    | levels=1 | 15.500 | 16.000 | 1.032 |\n| levels=3 | 15.500 | 16.000 | 1.032 |\n";
        assert_eq!(
            page,
            format!("\n## Spread\n\nWorst over best.\n\n{rows}\n- **levels=1**: Nothing.\n")
        );
        let text = table(false).text();
        assert_eq!(text.lines().nth(4), Some("levels=1     15.500    16.000     1.032"), "{text}");
    }

    #[test]
    fn excess_is_scaled_by_the_first_row() {
        let lines = table(true).lines().into_iter().map(|(_, figures)| figures).collect::<Vec<_>>();
        assert_eq!(
            lines,
            [[Some(15.5), Some(16.0)], [Some(15.5), Some(16.0)], [Some(31.0), Some(128.0)]]
        );
    }
}
