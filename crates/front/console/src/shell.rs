//! The common part of all command lines: verbs for shells, and a short `-h`.

use crate::error::CliResult;
use crate::running::CliProgram;
use crate::{completion, manual, output};
use clap::{Command, Subcommand};
use std::path::PathBuf;

/// A verb for the shell.
#[derive(Debug, Subcommand)]
pub enum ShellVerb {
    /// Print completions for a shell.
    Completions {
        /// The shell that requests completions.
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
    /// Prints the completions, or writes the manual pages.
    ///
    /// # Errors
    /// The shell is not supported, or a file cannot be written.
    pub fn run(&self, program: &CliProgram) -> CliResult {
        match self {
            ShellVerb::Completions { shell } => {
                output::print_exact(&completion::script(program, *shell)?)
            }
            ShellVerb::Man { folder } => {
                manual::write((program.command)(), program.guides, folder.as_deref())
            }
        }
    }
}

/// Hides options that newcomers do not need, by verb: `-h` omits them, so it fits a screen;
/// `--help` lists all.
pub fn with_short_help(command: Command, rarely_needed: &[(&str, &str)]) -> Command {
    rarely_needed.iter().fold(command, |command, (verb, options)| {
        command.mut_subcommand(verb, |verb| {
            options.split(' ').fold(verb, |verb, option| {
                verb.mut_arg(option, |option| option.hide_short_help(true))
            })
        })
    })
}
