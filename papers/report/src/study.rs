//! Published figures next to ours.

mod claim;
mod figure;
mod table;

pub use claim::{ClaimKind, ClaimLimit, ClaimVerdict};
pub use figure::{FigureSource, MeasuredFigure, MeasuredNull, NullArm, StudyFigure};
use seatmap_data::document::{visible, visible_lines};
use seatmap_data::statistics::words::{self, counted};
use serde::{Deserialize, Serialize};
use std::time::Duration;
pub use table::{Column, FilledTable, StudyTable, TableRow};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-study/3";

fn with_program(command: &str) -> String {
    format!("seatmap-papers {command}")
}

/// One paper's figures, as written in `studies/`.
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
    /// The results that hold and those that do not, in three sentences: the page's beginning.
    #[serde(default)]
    pub holds: Option<String>,
    /// The experiment and its machine.
    pub about: String,
    /// Whether the figures are of the computer that runs the study, which the page then names.
    #[serde(default)]
    pub is_of_host: bool,
    /// The figures.
    #[serde(default)]
    pub figure: Vec<StudyFigure>,
    /// Tables of figures.
    #[serde(default)]
    pub table: Vec<StudyTable>,
    /// The conclusion from all figures and tables.
    #[serde(default)]
    pub conclusion: Option<String>,
    /// Pictures with the commands that draw them.
    #[serde(default)]
    pub picture: Vec<Picture>,
}

/// An error in a study's file.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The file is not TOML, or lacks the expected keys.
    #[error("line {line}, column {column}: {problem}")]
    Toml {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// The problem.
        problem: String,
    },
    /// The format or its version is unknown.
    #[error("its format is '{0}', but this program reads {FORMAT}")]
    Format(String),
    /// A page or picture would be in another folder than the user's.
    #[error(
        "'{0}' names a file of the study; write letters, digits, '-', '_' and '.', and no folder"
    )]
    File(String),
}

fn is_file_name(text: &str) -> bool {
    // The first character excludes '..', hidden files and options of commands.
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A study's text in a page, without HTML tags.
fn prose(text: &str) -> String {
    // Without '<', no text opens a tag in the page, which is Markdown with HTML.
    visible_lines(text.trim().replace('<', "&lt;"))
}

/// A study's text in a line of a page, or a table column.
fn column(text: &str) -> String {
    prose(&line(text)).replace('|', "\\|")
}

impl Study {
    /// Reads a study from its file.
    ///
    /// # Errors
    /// [`StudyError`].
    pub fn from_toml(text: &str) -> Result<Self, StudyError> {
        let study: Study = toml::from_str(text).map_err(|error| {
            // Columns in characters, as in editors; a span counts bytes.
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            StudyError::Toml {
                line: 1 + before.matches('\n').count(),
                column: 1 + before[line_start..].chars().count(),
                problem: seatmap_data::document::parser_message(error.message()),
            }
        })?;
        if study.format != FORMAT {
            return Err(StudyError::Format(visible(&study.format)));
        }
        // Names become files, so they must not lead out of the folder.
        let mut files =
            std::iter::once(&study.name).chain(study.picture.iter().map(|picture| &picture.file));
        match files.find(|file| !is_file_name(file)) {
            Some(file) => Err(StudyError::File(visible(file))),
            None => Ok(study),
        }
    }
}

/// A picture of a study, or a table of its curves' points.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// The picture's title.
    pub title: String,
    /// Its file.
    pub file: String,
    /// The command that draws it, with `FILE` for its path.
    pub command: String,
}

/// A row or table that could not be run here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotRun {
    /// The figure's place in the paper; empty for a table.
    pub place: String,
    /// The figure's name, or the table's title.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// A study with its results.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedStudy {
    /// The study.
    pub study: Study,
    /// Its figures with ours.
    pub found: Vec<MeasuredFigure>,
    /// Its tables.
    pub tables: Vec<FilledTable>,
    /// Rows and tables that could not be run.
    pub not_run: Vec<NotRun>,
    /// The time for all commands.
    pub took: Duration,
}

/// A study as text for the terminal.
pub fn text(judged: &JudgedStudy) -> String {
    let JudgedStudy { study, found, tables, not_run, .. } = judged;
    let mut text = format!("{}\n{}\n\n", line(&study.title), line(&study.about));
    text += &figures(found);
    for one in not_run {
        text += &format!("{:<10} {}\n{:<10} {}\n", "not run", of_paper(one), "", line(&one.why));
    }
    if !(found.is_empty() && not_run.is_empty()) {
        text += &format!("\n{}\n", summary(found, not_run.len()));
    }
    for table in tables {
        text += &table.text();
    }
    text
}

/// The name of a row without a result, with its place in the paper.
fn of_paper(one: &NotRun) -> String {
    if one.place.is_empty() {
        line(&one.what)
    } else {
        format!("{}: {}", line(&one.place), line(&one.what))
    }
}

/// The figures as text, two lines each, because one line would be twice a screen's width.
fn figures(found: &[MeasuredFigure]) -> String {
    let mut text = String::new();
    for one in found {
        text += &format!("{:<10} {}: {}\n", one.verdict.word(), line(&one.place), line(&one.what));
        let ours = [number(one.ours), line(&one.unit)].join(" ");
        let paper = match (one.published, &one.says) {
            (Some(published), _) => format!("published {}", number(published)),
            (None, Some(says)) => format!("said: {}", line(says)),
            (None, None) => String::new(),
        };
        let ratio = one.ratio.map_or_else(String::new, |ratio| format!(", ratio {ratio:.3}"));
        text += &format!("{:<10} {paper}; ours {}{ratio}; {}\n", "", ours.trim_end(), one.rule);
        if let Some(null) = one.null.as_ref().filter(|null| null.ours.is_some()) {
            text += &format!("{:<10} without the effect: {}\n", "", without(null));
        }
    }
    text
}

/// The arm without the effect: its value, and the difference from the figure.
fn without(null: &MeasuredNull) -> String {
    let ours = null.ours.map_or_else(String::new, |ours| format!("{}: ", number(ours)));
    ours + &line(&null.what)
}

/// Counts each verdict's figures, and those not run. They are never added up: an input proves
/// nothing, and a direction is less than a number.
fn summary(found: &[MeasuredFigure], not_run: usize) -> String {
    let counts = ClaimVerdict::ALL.map(|verdict| {
        let count = found.iter().filter(|one| one.verdict == verdict).count();
        format!("{count} {}", verdict.word())
    });
    let unseen =
        if not_run == 0 { String::new() } else { format!(", {not_run} not run on this computer") };
    format!("{}: {}{unseen}.", counted(found.len() + not_run, "row"), counts.join(", "))
}

/// A study as a page of the guide: what holds, a picture, the rows, and the reasons for misses.
pub fn markdown(judged: &JudgedStudy) -> String {
    let JudgedStudy { study, found, tables, not_run, took } = judged;
    let mut text = format!("# {}\n", column(&study.title));
    if let Some(holds) = &study.holds {
        text += &format!("\n{}\n", prose(holds));
    }
    if found.iter().any(|one| one.ratio.is_some()) {
        let title = "Ours over the published figure, row by row, with the tenth in grey";
        text += &shown(title, &format!("{}.svg", study.name));
    }
    text += &format!("\n{}\n\n{}\n\n", prose(&study.paper), prose(&study.about));
    let has_rows = !(found.is_empty() && not_run.is_empty());
    let counts = if has_rows { summary(found, not_run.len()) + " " } else { String::new() };
    text += &format!(
        "{counts}`seatmap-papers study {name}` prints this again, in {}. [{name}.csv]({name}.csv) \
         has each row with its command.\n",
        words::lasting(took.as_secs_f64()),
        name = study.name
    );
    if !found.is_empty() {
        text += &figure_table(found);
    }
    for picture in &study.picture {
        text += &shown(&picture.title, &picture.file);
    }
    for table in tables {
        text += &table.markdown();
    }
    text += &disagreements(found);
    if !not_run.is_empty() {
        text += "\n## Not run on this computer\n\n";
        for one in not_run {
            text += &format!("- **{}**: {}\n", column(&of_paper(one)), column(&one.why));
        }
    }
    if let Some(conclusion) = &study.conclusion {
        text += &format!("\n## What follows\n\n{}\n", prose(conclusion));
    }
    text
}

fn shown(title: &str, file: &str) -> String {
    let title = column(title);
    if file.ends_with(".csv") {
        return format!("\n[{title}]({file})\n");
    }
    format!("\n![{title}]({file})\n\n{title}\n")
}

fn figure_table(found: &[MeasuredFigure]) -> String {
    let mut text = "\n| verdict | in the paper | figure | published | ours | ratio | judged by \
                    | without the effect |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for one in found {
        let unit =
            if one.unit.is_empty() { String::new() } else { format!(" {}", column(&one.unit)) };
        let null = one.null.as_ref().filter(|null| null.ours.is_some());
        text += &format!(
            "| {} | {} | {} | {} | {}{unit} | {} | {} | {} |\n",
            emphasised(one.verdict),
            column(&one.place),
            column(&one.what),
            stated(one, &unit),
            number(one.ours),
            one.ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}")),
            column(&one.rule),
            null.map_or_else(String::new, |null| column(&without(null))),
        );
    }
    text
}

/// The rows as a table of text: the verdict first, then the figures, the commands, and the arm
/// without the effect.
pub fn csv(judged: &JudgedStudy) -> String {
    let mut text =
        "verdict,place,figure,published,ours,unit,rule,command,null,null_ours,null_command\n"
            .to_owned();
    for one in &judged.found {
        let (what, ours, command) = one
            .null
            .as_ref()
            .map_or(("", None, ""), |null| (null.what.as_str(), null.ours, null.command.as_str()));
        let says = one.says.clone().unwrap_or_default();
        let figures = [
            one.verdict.word(),
            &one.place,
            &one.what,
            &one.published.map_or(says, |published| published.to_string()),
            &one.ours.to_string(),
            &one.unit,
            &one.rule,
            &one.command,
            what,
            &ours.map_or_else(String::new, |ours| ours.to_string()),
            command,
        ];
        text += &(figures.map(cell).join(",") + "\n");
    }
    for one in &judged.not_run {
        text += &(["not run", &one.place, &one.what].map(cell).join(",") + &",".repeat(8) + "\n");
    }
    for table in &judged.tables {
        for (what, name, ours, command) in table.cells() {
            let figure = format!("{}, {what}, {name}", table.title);
            let known = ["table", "", &figure, "", &ours.to_string(), "", "", command];
            text += &(known.map(cell).join(",") + ",,,\n");
        }
    }
    text
}

/// A field of a table of text (RFC 4180).
fn cell(text: &str) -> String {
    let text = line(text);
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A verdict's name, bold if the paper and Seatmap disagree.
fn emphasised(verdict: ClaimVerdict) -> String {
    if verdict.is_disagreement() {
        format!("**{}**", verdict.word())
    } else {
        verdict.word().to_owned()
    }
}

fn stated(one: &MeasuredFigure, unit: &str) -> String {
    match (one.published, &one.says) {
        (Some(published), _) => number(published) + unit,
        (None, Some(says)) => column(says),
        (None, None) => String::new(),
    }
}

/// The figures in which the paper and Seatmap disagree, with the reasons.
fn disagreements(found: &[MeasuredFigure]) -> String {
    let disagreeing: Vec<&MeasuredFigure> =
        found.iter().filter(|one| one.verdict.is_disagreement()).collect();
    if disagreeing.is_empty() {
        return String::new();
    }
    let mut text = "\n## What misses, and why\n\n".to_owned();
    for one in disagreeing {
        let note = one.note.as_deref().map_or_else(|| "not explained yet.".to_owned(), column);
        let what = column(&one.what);
        text += &format!("- **{}, {what}** ({}): {note}\n", column(&one.place), one.verdict.word());
    }
    text
}

fn number(value: f64) -> String {
    // At these bounds, rounding adds a digit.
    let digits = match value.abs() {
        9_999.95.. => 0,
        99.9995.. => 1,
        small if small < 0.1 && small > 0.0 => 4,
        _ => 3,
    };
    words::figure(value, digits)
}
