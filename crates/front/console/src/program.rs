//! The `main` of every program of Seatmap's.

use crate::error::CliError;
use crate::running::{self, Program};
use crate::view::{self, ColourChoice};
use crate::{completion, misread, output};
use clap::FromArgMatches;
use seatmap_report::terminal::Colour;
use std::process::ExitCode;

/// Reads the command line, does the work, reports a failure. Answers a shell that asks for
/// completions instead.
pub fn main<T: FromArgMatches>(
    program: Program,
    work: impl FnOnce(T) -> Result<(), CliError>,
) -> ExitCode {
    let program = running::begin(program);
    // Asked first: the words of a line to be completed are not yet one that can be parsed.
    let done = completion::answer(program).unwrap_or_else(|| parse(program).and_then(work));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn parse<T: FromArgMatches>(program: &Program) -> Result<T, CliError> {
    let matches = (program.command)().try_get_matches();
    matches
        .and_then(|matches| T::from_arg_matches(&matches))
        .map_err(|error| refusal(program, error))
}

/// Help and version go to stdout, which may be closed or full; a mistake in the command line goes
/// to stderr.
fn refusal(program: &Program, error: clap::Error) -> CliError {
    if let Some(sentence) = misread::sentence(&error, program, std::env::args_os()) {
        return CliError::input(sentence);
    }
    let text = error.render();
    if error.use_stderr() {
        return CliError::CommandLine(error);
    }
    let has_colour = view::colour(ColourChoice::Auto, &std::io::stdout()) != Colour::None;
    let shown = if has_colour { text.ansi().to_string() } else { text.to_string() };
    // Help is all that was asked for.
    output::print_drawn(&shown).err().unwrap_or(CliError::HelpPrinted)
}
