//! The `main` of every program of Seatmap's.

use crate::error::CliError;
use crate::running::{self, CliProgram};
use crate::view::{self, ColourChoice};
use crate::{completion, misread, output};
use clap::Parser;
use clap::error::ErrorKind;
use seatmap_report::terminal::Colour;
use std::ffi::OsString;
use std::process::ExitCode;

/// Reads the command line, does the work, reports a failure. Answers a shell that asks for
/// completions instead.
pub fn main<T: Parser>(
    program: CliProgram,
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

/// The command line by its bare grammar. The pages with their examples and groups are half of the
/// time that it takes to make it, and nobody waits for them who has not asked for help.
fn parse<T: Parser>(program: &CliProgram) -> Result<T, CliError> {
    T::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayVersion => refusal(program, error),
        _ => refusal(program, in_full(program).unwrap_or(error)),
    })
}

/// The same refusal or help by the whole command line.
fn in_full(program: &CliProgram) -> Option<clap::Error> {
    (program.command)().try_get_matches().err()
}

/// Help and version go to stdout, which may be closed or full; a mistake in the command line goes
/// to stderr.
fn refusal(program: &CliProgram, error: clap::Error) -> CliError {
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

/// Whether `--` stands in front of this command, which ends the command line.
#[must_use]
pub fn is_after_dashes(command: &[OsString]) -> bool {
    std::env::args_os().rev().nth(command.len()).is_some_and(|word| word == "--")
}
