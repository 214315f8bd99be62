//! `seatmap pattern`.

use clap::{Args, Subcommand};
use seatmap_console::{CliResult, Destination, ResultForms, choice, output, pattern_input, view};
use seatmap_data::pattern::Pattern;
use seatmap_data::pattern::generate::GENERATORS;
use seatmap_data::pattern::qaplib::Which;
use seatmap_report::{pattern, svg};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct PatternArgs {
    #[command(subcommand)]
    command: PatternCommand,
}

#[derive(Subcommand)]
enum PatternCommand {
    /// Draw a pattern: who sends how much to whom.
    Show(PatternShow),
    /// Write a pattern as seatmap-pattern/1.
    Convert {
        #[command(flatten)]
        source: PatternSource,
        /// Where; stdout by default.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the generators.
    List,
}

#[derive(Args)]
struct PatternShow {
    #[command(flatten)]
    source: PatternSource,
    /// Write the matrix as a picture; - is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The width in columns; the terminal's by default.
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    width: Option<u16>,
    #[command(flatten)]
    forms: ResultForms,
}

/// Where a pattern comes from.
#[derive(Args)]
struct PatternSource {
    /// A generator such as ring:8, or a file: seatmap-pattern/1, CSV matrix or list of edges,
    /// MatrixMarket, QAPLIB .dat; '-' is stdin.
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// Which matrix of a QAPLIB .dat is the flow; the first by default.
    #[arg(long, value_name = "WHICH")]
    matrix: Option<MatrixChoice>,
    /// How much each task works, in any unit: numbers such as 4,1,1,1, or a file of them.
    #[arg(long, value_name = "LIST|FILE")]
    load: Option<String>,
}

choice! {
    /// One of the two matrices of a QAPLIB file.
    MatrixChoice for Which {
        /// The first matrix in the file.
        First,
        /// The second matrix in the file.
        Second,
    }
}

/// Draws, converts or lists patterns.
pub fn run(typed: &PatternArgs) -> CliResult {
    match &typed.command {
        PatternCommand::List => {
            let width = GENERATORS.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
            let rows = GENERATORS.iter().map(|(form, what)| format!("{form:width$}  {what}\n"));
            output::print(&rows.collect::<String>())
        }
        PatternCommand::Convert { source, output } => {
            // First, because stdin cannot be read again.
            let destination = Destination::new(output.as_deref().unwrap_or(Path::new("-")))?;
            destination.write(&read(source)?.to_json())
        }
        PatternCommand::Show(typed) => show(typed),
    }
}

fn read(source: &PatternSource) -> CliResult<Pattern> {
    let mut pattern = pattern_input::pattern_of(&source.pattern, source.matrix.map(Into::into))?;
    pattern_input::give_loads(&mut pattern, source.load.as_deref())?;
    Ok(pattern)
}

fn show(typed: &PatternShow) -> CliResult {
    view::keep_to(typed.width);
    let html = typed.forms.html.as_deref();
    let picture = output::beside(typed.svg.as_deref(), None, "--svg")?;
    let page = output::beside(html, None, "--html")?;
    let files = [&picture, &page].into_iter().flatten();
    let on_stdout = files.filter(|file| **file == Destination::Stdout).count();
    // Two documents in a row on stdout are unreadable.
    refuse_if!(
        on_stdout + usize::from(typed.forms.json) > 1,
        "only one of --json, --svg - and --html - can have stdout; give the others file names"
    );
    let pattern = read(&typed.source)?;
    let named = |path| Option::filter(path, |_| !typed.forms.json);
    if let Some(picture) = &picture {
        picture.write_named(&svg::traffic(&pattern), named(typed.svg.as_deref()))?;
    }
    if let Some(page) = &page {
        page.write_named(&pattern::page(&pattern).html(), named(html))?;
    }
    if typed.forms.json {
        output::print_exact(&pattern.to_json())
    } else if picture.is_none() && page.is_none() {
        output::show(&pattern::drawn(&pattern, view::width()))
    } else {
        Ok(())
    }
}
