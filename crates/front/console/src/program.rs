//! The `main` of each of Seatmap's programs.

use crate::error::{CliError, CliResult};
use crate::running::{self, CliProgram};
use crate::{completion, misread, output, view};
use clap::Parser;
use clap::error::ErrorKind;
use seatmap_report::terminal::Colour;
use std::ffi::OsString;
use std::process::ExitCode;

/// Parses the command line, does the work, and reports a failure; or answers a shell's request for
/// completions.
pub fn main<T: Parser>(program: CliProgram, work: impl FnOnce(T) -> CliResult) -> ExitCode {
    let program = running::begin(program);
    // First: an incomplete command line cannot be parsed.
    let done = completion::answer(program).unwrap_or_else(|| parse(program).and_then(work));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

/// Parses the bare command line. The full one takes twice as long to build and only serves help and
/// errors.
fn parse<T: Parser>(program: &CliProgram) -> CliResult<T> {
    T::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayVersion => refusal(program, error),
        _ => refusal(program, in_full(program).unwrap_or(error)),
    })
}

fn in_full(program: &CliProgram) -> Option<clap::Error> {
    (program.command)().try_get_matches().err()
}

/// Help and version go to stdout, which may be closed or full; a mistake goes to stderr.
fn refusal(program: &CliProgram, error: clap::Error) -> CliError {
    if let Some(sentence) = misread::sentence(&error, program, std::env::args_os()) {
        return CliError::input(sentence);
    }
    let text = error.render();
    if error.use_stderr() {
        return CliError::CommandLine(error);
    }
    let has_colour = view::colour(&std::io::stdout()) != Colour::None;
    let shown = if has_colour { text.ansi().to_string() } else { text.to_string() };
    output::print_drawn(&shown).err().unwrap_or(CliError::HelpPrinted)
}

/// Whether the command line's `--` precedes this command.
pub fn is_after_dashes(command: &[OsString]) -> bool {
    std::env::args_os().rev().nth(command.len()).is_some_and(|word| word == "--")
}
