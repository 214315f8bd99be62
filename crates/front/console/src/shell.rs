//! The part of a command line that every program has: verbs for shells, and a short `-h`.

use crate::error::CliError;
use crate::running::Program;
use crate::{completion, manual, output};
use clap::{Command, Subcommand};
use std::path::PathBuf;

/// A verb for the shell.
#[derive(Debug, Subcommand)]
pub enum ShellVerb {
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages.
    Man {
        /// The folder; without it the main page goes to stdout.
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

impl ShellVerb {
    /// Prints or writes what a shell is to know of the program.
    ///
    /// # Errors
    /// The shell is not known, or a file cannot be written.
    pub fn run(&self, program: &Program) -> Result<(), CliError> {
        match self {
            ShellVerb::Completions { shell } => {
                output::print(&completion::script(program, *shell)?)
            }
            ShellVerb::Man { folder } => manual::write((program.command)(), folder.as_deref()),
        }
    }
}

/// The command line without the options that a newcomer does not need, by verb: `-h` leaves them
/// out, so that it fits a screen; `--help` has them all.
pub fn with_short_help(command: Command, rarely_needed: &[(&str, &[&str])]) -> Command {
    rarely_needed.iter().fold(command, |command, (verb, options)| {
        command.mut_subcommand(verb, |verb| {
            options.iter().fold(verb, |verb, option| {
                verb.mut_arg(option, |option| option.hide_short_help(true))
            })
        })
    })
}
