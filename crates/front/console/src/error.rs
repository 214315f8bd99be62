//! Reports a failure: one line with its causes, and an exit code.

use crate::output;
pub use seatmap_data::document::with_causes;
use seatmap_data::document::{Blame, is_hidden, visible_lines};
use seatmap_launch::Ending;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// A failure, classified by its exit code.
#[derive(Debug)]
pub enum CliError {
    /// The command line or an input file is wrong: exit code 2.
    Input(Box<dyn Error>),
    /// The work failed: exit code 1.
    Work(Box<dyn Error>),
    /// The command line cannot be parsed, with the parser's message: exit code 2.
    CommandLine(clap::Error),
    /// The reader closed the pipe, which is not a failure.
    NobodyListens,
    /// Help or version was requested and has been printed.
    HelpPrinted,
}

/// The result of work that may fail.
pub type CliResult<T = ()> = Result<T, CliError>;

/// `?` gives a library's error its exit code.
impl<E: Blame> From<E> for CliError {
    fn from(error: E) -> Self {
        if error.is_input() { CliError::input(error) } else { CliError::work(error) }
    }
}

impl CliError {
    /// The command line or an input file is wrong.
    pub fn input(error: impl Into<Box<dyn Error>>) -> Self {
        CliError::Input(error.into())
    }

    /// The work failed.
    pub fn work(error: impl Into<Box<dyn Error>>) -> Self {
        CliError::Work(error.into())
    }

    /// Refuses the command line or an input file if it has a problem.
    ///
    /// # Errors
    /// The problem.
    pub fn check_input(problem: Option<String>) -> Result<(), Self> {
        problem.map_or(Ok(()), |problem| Err(CliError::input(problem)))
    }

    /// The file at this path is wrong.
    pub fn at(path: &Path, error: impl Into<Box<dyn Error>>) -> Self {
        CliError::input(AtFile { path: path.display().to_string(), source: error.into() })
    }

    /// The work failed at this path.
    pub fn work_at(path: &Path, error: impl Into<Box<dyn Error>>) -> Self {
        CliError::work(AtFile { path: path.display().to_string(), source: error.into() })
    }

    /// Prints the failure on stderr.
    pub fn report(&self) -> ExitCode {
        ExitCode::from(self.tell())
    }

    /// Prints the failure, and returns how another process should end.
    pub fn ending(&self) -> Ending {
        Ending::Exited(self.tell().into())
    }

    /// The failure as a line of text, for programs that draw their own screen.
    pub fn text(&self) -> String {
        match self {
            CliError::Input(error) | CliError::Work(error) => with_causes(error.as_ref()),
            CliError::CommandLine(error) => error.to_string(),
            CliError::NobodyListens | CliError::HelpPrinted => String::new(),
        }
    }

    fn tell(&self) -> u8 {
        match self {
            CliError::Input(error) => tell(error.as_ref(), 2),
            CliError::Work(error) => tell(error.as_ref(), 1),
            CliError::CommandLine(error) => {
                misread(error);
                2
            }
            CliError::NobodyListens | CliError::HelpPrinted => 0,
        }
    }
}

/// Names the file that an error is about.
pub trait AtPath<T> {
    /// The file is wrong.
    ///
    /// # Errors
    /// The error, at this path.
    fn at(self, path: &Path) -> CliResult<T>;

    /// The work failed at this file.
    ///
    /// # Errors
    /// The error, at this path.
    fn work_at(self, path: &Path) -> CliResult<T>;
}

impl<T, E: Into<Box<dyn Error>>> AtPath<T> for Result<T, E> {
    fn at(self, path: &Path) -> CliResult<T> {
        self.map_err(|error| CliError::at(path, error))
    }

    fn work_at(self, path: &Path) -> CliResult<T> {
        self.map_err(|error| CliError::work_at(path, error))
    }
}

/// Makes hidden characters visible, because the parser repeats the user's input. A failed write
/// does not change the exit code.
fn misread(error: &clap::Error) {
    // The parser's own output has colours.
    let _ = if std::env::args_os().any(|word| word.to_string_lossy().contains(is_hidden)) {
        write!(io::stderr(), "{}", visible_lines(error.render().to_string()))
    } else {
        error.print()
    };
}

fn tell(error: &dyn Error, code: u8) -> u8 {
    output::tell(&with_causes(error));
    code
}

#[derive(Debug, thiserror::Error)]
#[error("{path}")]
struct AtFile {
    /// Path as given.
    path: String,
    source: Box<dyn Error>,
}
