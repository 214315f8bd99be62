//! Published figures beside ours.

mod table;

use seatmap_document::{visible, visible_lines};
use seatmap_statistics::words;
use serde::{Deserialize, Serialize};
pub use table::{Column, FilledTable, Table, TableRow};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-study/1";

/// How far off a checked figure may be, where the study says nothing else.
const WITHIN: f64 = 0.1;

/// The verbs of the papers' own program.
const OF_THE_PAPERS: [&str; 5] = ["rank", "stats", "channels", "workers", "study"];

/// The program that has a command's verb.
#[must_use]
pub fn program_of(command: &str) -> &'static str {
    let verb = command.split(' ').next().unwrap_or_default();
    if OF_THE_PAPERS.contains(&verb) { "seatmap-papers" } else { "seatmap" }
}

/// A command as a person types it.
fn with_program(command: &str) -> String {
    format!("{} {command}", program_of(command))
}

/// One paper's figures, as written down in `studies/`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// [`FORMAT`].
    pub format: String,
    /// The study's name on the command line.
    pub name: String,
    /// A title.
    pub title: String,
    /// The publication.
    pub paper: String,
    /// The work that was run, and the machine it ran on.
    pub about: String,
    /// Whether its figures are of the machine that runs it, which the page then names.
    #[serde(default)]
    pub is_of_host: bool,
    /// The figures.
    #[serde(default)]
    pub figure: Vec<Figure>,
    /// Tables of figures.
    #[serde(default)]
    pub table: Vec<Table>,
    /// The last words: what the figures and tables say together.
    #[serde(default)]
    pub conclusion: Option<String>,
    /// Pictures: a file's name and the command that writes it.
    #[serde(default)]
    pub picture: Vec<Picture>,
}

/// A study that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// No TOML, or TOML of another shape.
    #[error("line {line}, column {column}: {problem}")]
    Toml {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// The mistake.
        problem: String,
    },
    /// Another format, or a version of this one that is not known here.
    #[error("its format is '{0}', and this program reads {FORMAT}")]
    Format(String),
    /// A page or picture would lie in another folder than the one that the user names.
    #[error(
        "'{0}' names a file of the study; write letters, digits, '-', '_' and '.', and no folder"
    )]
    File(String),
}

/// Whether a text names a file in a folder, and can stand in a page as it is.
fn is_file_name(text: &str) -> bool {
    // Begins with a letter or digit, so that it is neither '..' nor hidden nor an option of a
    // command.
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// A text of a study on one line.
fn line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A text of a study in a page: it makes no tags of its own.
fn prose(text: &str) -> String {
    // Without a '<' no text opens a tag in the page, which is Markdown with HTML.
    visible_lines(text.trim().replace('<', "&lt;"))
}

/// A text of a study in a line of a page, or in a column of a table.
fn column(text: &str) -> String {
    prose(&line(text)).replace('|', "\\|")
}

impl Study {
    /// A study from its file.
    ///
    /// # Errors
    /// [`StudyError`].
    pub fn from_toml(text: &str) -> Result<Self, StudyError> {
        let study: Study = toml::from_str(text).map_err(|error| {
            // Columns in characters, as editors count them; a span counts bytes.
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            StudyError::Toml {
                line: 1 + before.matches('\n').count(),
                column: 1 + before[line_start..].chars().count(),
                problem: seatmap_document::parser_sentence(error.message()),
            }
        })?;
        if study.format != FORMAT {
            return Err(StudyError::Format(visible(&study.format)));
        }
        // Names become files, so nothing in them may lead out of the folder.
        let mut files =
            std::iter::once(&study.name).chain(study.picture.iter().map(|picture| &picture.file));
        match files.find(|file| !is_file_name(file)) {
            Some(file) => Err(StudyError::File(visible(file))),
            None => Ok(study),
        }
    }
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The figure's name, and its place in the paper.
    pub what: String,
    /// The command that gives ours, without its program and `--json`.
    pub command: String,
    /// A command whose figure the first one's is divided by.
    #[serde(default)]
    pub over: Option<String>,
    /// The divisor, where it is another value: of the same command if no other is given.
    #[serde(default)]
    pub over_value: Option<String>,
    /// Where in the command's JSON: a pointer (RFC 6901), or `/rows/NAME`.
    pub value: String,
    /// The published value.
    #[serde(default)]
    pub published: Option<f64>,
    /// The value that ours must exceed, where the direction counts and not the figure.
    #[serde(default)]
    pub above: Option<f64>,
    /// The value that ours must stay below, where the direction counts and not the figure.
    #[serde(default)]
    pub below: Option<f64>,
    /// The unit of both figures.
    pub unit: String,
    /// Whether the model was fitted to it.
    pub kind: Kind,
    /// How far off ours may be, as a share.
    #[serde(default)]
    pub within: Option<f64>,
    /// A remark, above all the reason for a miss.
    #[serde(default)]
    pub note: Option<String>,
}

/// A picture that belongs to a study.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// The picture's title.
    pub title: String,
    /// Its file.
    pub file: String,
    /// The command that writes it, with `FILE` for its place.
    pub command: String,
}

/// Whether the model knew a figure beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A parameter was fitted to it.
    Calibration,
    /// The model was not fitted to it.
    Check,
}

/// A figure and ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredFigure {
    /// The figure's name.
    pub what: String,
    /// The command.
    pub command: String,
    /// The published value; null where the paper gives only a direction.
    pub published: Option<f64>,
    /// The value that Seatmap found.
    pub ours: f64,
    /// Seatmap's value over the published one.
    pub ratio: Option<f64>,
    /// The unit of both figures.
    pub unit: String,
    /// Whether it is a calibration or a check.
    pub kind: Kind,
    /// Whether it is met.
    pub is_met: bool,
    /// A remark.
    pub note: Option<String>,
}

impl Figure {
    /// This figure beside ours.
    #[must_use]
    pub fn beside(&self, ours: f64) -> MeasuredFigure {
        let ratio = self.published.map(|published| ours / published);
        let is_bounded = self.above.is_some() || self.below.is_some();
        let is_inside = self.above.is_none_or(|least| ours > least)
            && self.below.is_none_or(|most| ours < most);
        let command = match &self.over {
            Some(over) => format!("{} / {}", with_program(&self.command), with_program(over)),
            None => with_program(&self.command),
        };
        MeasuredFigure {
            what: self.what.clone(),
            command,
            published: self.published,
            ours,
            ratio,
            unit: self.unit.clone(),
            kind: self.kind,
            // Bounds hold instead of the published figure, which is then only shown.
            is_met: if is_bounded {
                is_inside
            } else {
                ratio
                    // Rounding must not turn a figure right at the limit into a miss.
                    .is_none_or(|ratio| (ratio - 1.0).abs() <= self.within.unwrap_or(WITHIN) + 1e-9)
            },
            note: self.note.clone(),
        }
    }
}

/// A study as text for a terminal.
#[must_use]
pub fn text(study: &Study, found: &[MeasuredFigure], tables: &[FilledTable]) -> String {
    let mut text = format!("{}\n{}\n\n", line(&study.title), line(&study.about));
    if !found.is_empty() {
        text += &(figures(found) + "\n" + &summary(found) + "\n");
    }
    for table in tables {
        text += &table.text();
    }
    text
}

/// The figures as lines of text.
fn figures(found: &[MeasuredFigure]) -> String {
    let names: Vec<String> = found.iter().map(|one| line(&one.what)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (one, name) in found.iter().zip(&names) {
        text += &format!(
            "{:<5} {name:<width$}  {:>12}  {:>12} {:<5} {:>6}  {}\n",
            if one.is_met { "met" } else { "MISS" },
            one.published.map_or_else(String::new, number),
            number(one.ours),
            line(&one.unit),
            one.ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}")),
            if one.kind == Kind::Check { "check" } else { "calibration" },
        );
    }
    text
}

/// How many are met.
#[must_use]
pub fn summary(found: &[MeasuredFigure]) -> String {
    let (met, checks) = counts(found, Kind::Check);
    let (fitted, calibrations) = counts(found, Kind::Calibration);
    format!("{met} of {checks} checks met, {fitted} of {calibrations} calibrations.")
}

fn counts(found: &[MeasuredFigure], kind: Kind) -> (usize, usize) {
    (
        found.iter().filter(|one| one.kind == kind).filter(|one| one.is_met).count(),
        found.iter().filter(|one| one.kind == kind).count(),
    )
}

/// A study as a page of the guide.
#[must_use]
pub fn markdown(study: &Study, found: &[MeasuredFigure], tables: &[FilledTable]) -> String {
    let mut text = format!(
        "# {}\n\n{}\n\n{}\n\n",
        column(&study.title),
        prose(&study.paper),
        prose(&study.about)
    );
    let met = if found.is_empty() { String::new() } else { summary(found) + " " };
    text += &format!("{met}`seatmap-papers study {}` prints this again.\n", study.name);
    if !found.is_empty() {
        text += &figure_table(found);
    }
    for picture in &study.picture {
        let title = column(&picture.title);
        text += &format!("\n![{title}]({})\n\n{title}\n", picture.file);
    }
    for table in tables {
        text += &table.markdown();
    }
    text += &misses(found);
    if let Some(conclusion) = &study.conclusion {
        text += &format!("\n## What follows\n\n{}\n", prose(conclusion));
    }
    text += "\n## The commands\n\n```sh\n";
    let mut commands: Vec<&str> = found.iter().map(|one| one.command.as_str()).collect();
    commands.extend(tables.iter().flat_map(FilledTable::commands));
    // Figures that share a command come one after the other.
    commands.dedup();
    for command in commands {
        // A ratio is of two commands.
        text += &format!("{}\n", line(command).replace(" / ", "\n"));
    }
    text + "```\n"
}

/// The figures as a table of the page.
fn figure_table(found: &[MeasuredFigure]) -> String {
    let mut text =
        "\n| | figure | published | ours | ratio | kind |\n|---|---|---|---|---|---|\n".to_owned();
    for one in found {
        let unit =
            if one.unit.is_empty() { String::new() } else { format!(" {}", column(&one.unit)) };
        text += &format!(
            "| {} | {} | {} | {}{unit} | {} | {} |\n",
            if one.is_met { "met" } else { "**miss**" },
            column(&one.what),
            one.published.map_or_else(String::new, |published| number(published) + &unit),
            number(one.ours),
            one.ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}")),
            if one.kind == Kind::Check { "check" } else { "calibration" },
        );
    }
    text
}

/// The figures that are not met, and why.
fn misses(found: &[MeasuredFigure]) -> String {
    let missed: Vec<&MeasuredFigure> = found.iter().filter(|one| !one.is_met).collect();
    if missed.is_empty() {
        return String::new();
    }
    let mut text = "\n## What misses, and why\n\n".to_owned();
    for one in missed {
        let note = one.note.as_deref().map_or_else(|| "not explained yet.".to_owned(), column);
        text += &format!("- **{}**: {note}\n", column(&one.what));
    }
    text
}

fn number(value: f64) -> String {
    // The bounds are those at which rounding adds a digit.
    let digits = match value.abs() {
        9_999.95.. => 0,
        99.9995.. => 1,
        small if small < 0.1 && small > 0.0 => 4,
        _ => 3,
    };
    words::figure(value, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(published: Option<f64>, above: Option<f64>) -> Figure {
        Figure {
            what: "round trip".into(),
            command: "stats -f mailbox".into(),
            over: None,
            over_value: None,
            value: "/latency_ns".into(),
            published,
            above,
            below: None,
            unit: "ns".into(),
            kind: Kind::Check,
            within: None,
            note: None,
        }
    }

    #[test]
    fn figures_are_met_within_a_tenth_or_in_their_direction() {
        assert!(figure(Some(100.0), None).beside(110.0).is_met);
        assert!(!figure(Some(100.0), None).beside(111.0).is_met);
        assert!(
            figure(None, Some(1.0)).beside(1.1).is_met
                && !figure(None, Some(1.0)).beside(0.9).is_met
        );
        let found = figure(Some(100.0), Some(1.0)).beside(2.0);
        assert_eq!((found.is_met, found.ratio), (true, Some(0.02)));
    }
}
