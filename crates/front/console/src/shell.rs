//! The part of a command line that every program has: verbs for shells, and a short `-h`.

use crate::error::CliError;
use crate::guide::VerbGuide;
use crate::running::CliProgram;
use crate::{completion, manual, output};
use clap::{Command, Subcommand};
use std::path::PathBuf;

/// The words of help and manual for these verbs.
pub const GUIDES: &[VerbGuide] = &[
    VerbGuide {
        verb: "completions",
        examples: &[
            ("source <({program} completions bash)", "complete the words of this shell's lines"),
            (
                "{program} completions zsh > ~/.zfunc/_{program}",
                "keep them in a folder of zsh's $fpath",
            ),
            ("{program} completions fish | source", "do so in fish"),
        ],
        see_also: &["man", "bash(1)", "zsh(1)", "fish(1)"],
        ..VerbGuide::USUAL
    },
    VerbGuide {
        verb: "man",
        examples: &[
            ("{program} man ~/.local/share/man/man1", "write the pages where man(1) finds them"),
            ("{program} man | man -l -", "read the main page now"),
        ],
        see_also: &["completions", "man(1)"],
        ..VerbGuide::USUAL
    },
];

/// A verb for the shell.
#[derive(Debug, Subcommand)]
pub enum ShellVerb {
    /// Print completions for a shell.
    Completions {
        /// The one that asks for completions.
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
    pub fn run(&self, program: &CliProgram) -> Result<(), CliError> {
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
