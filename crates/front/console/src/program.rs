//! The program that runs: its name, its command line, and what every `main` does.

use crate::error::CliError;
use crate::view::{self, ColourChoice};
use crate::{completion, misread, output};
use clap::FromArgMatches;
use seatmap_report::terminal::Colour;
use std::process::ExitCode;
use std::sync::OnceLock;

/// A program of Seatmap's.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name, which stands before each of its messages.
    pub name: &'static str,
    /// Its command line.
    pub command: fn() -> clap::Command,
    /// The variable by which a shell's script asks for completions.
    pub completion_variable: &'static str,
    /// The values that an argument of a command may have, for completions.
    pub known_values: completion::Lookup,
    /// Commands that a person may look for here, by the program that has them.
    pub elsewhere: &'static [(&'static str, &'static [&'static str])],
}

impl Program {
    /// The other program that has this command.
    pub fn owner_of(&self, verb: &str) -> Option<&'static str> {
        let owner = self.elsewhere.iter().find(|(_, verbs)| verbs.contains(&verb));
        owner.map(|(name, _)| *name)
    }
}

static RUNNING: OnceLock<Program> = OnceLock::new();

/// The name of the program that runs; `seatmap` before it has begun, and in tests.
pub fn name() -> &'static str {
    RUNNING.get().map_or("seatmap", |program| program.name)
}

/// Reads the command line, does the work, reports a failure. Answers a shell that asks for
/// completions instead.
pub fn main<T: FromArgMatches>(
    program: Program,
    work: impl FnOnce(T) -> Result<(), CliError>,
) -> ExitCode {
    let program = RUNNING.get_or_init(|| program);
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
        return CliError::Typed(error);
    }
    let has_colour = view::colour(ColourChoice::Auto, &std::io::stdout()) != Colour::None;
    let shown = if has_colour { text.ansi().to_string() } else { text.to_string() };
    // Help is all that was asked for.
    output::print(&shown).err().unwrap_or(CliError::Told)
}
