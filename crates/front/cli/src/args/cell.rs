//! `seatmap cell`, as typed.

use clap::{Args, Subcommand};
use seatmap_cell::{Name, NameError};
use seatmap_console::new_cell::{NewCell, lease_s};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CellArgs {
    #[command(subcommand)]
    pub verb: CellVerb,
}

#[derive(Debug, Subcommand)]
pub enum CellVerb {
    /// Make a cell: everybody else leaves its CPUs.
    Create(CellCreate),
    /// List the cells there are.
    List {
        /// Print them as a JSON array on stdout, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Show a cell: how far it is closed, what is left on its CPUs, and what is wrong with it.
    Show(CellNamed),
    /// Run a program in a cell, each thread on a CPU of its own.
    Run(CellRun),
    /// Look whether a cell is still what it was made to be; exit code 1 where it is not.
    Verify(CellNamed),
    /// Undo a cell. A program that runs in it is moved out.
    Destroy {
        /// The name by which 'seatmap cell list' has it.
        #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL, value_parser = name)]
        name: Name,
    },
    /// Have the lease of a cell end at another time.
    Renew(CellRenew),
    /// Undo everything that any cell has changed on this host.
    Restore,
}

#[derive(Debug, Args)]
pub struct CellCreate {
    #[command(flatten)]
    pub cell: NewCell,
    /// Choose CPUs that are near one another by the distances in this profile.
    #[arg(long, alias = "near", value_name = "FILE")]
    pub profile: Option<String>,
    /// Choose a CPU for each task of this pattern, where they talk cheapest by the profile.
    #[arg(
        long,
        value_name = "PATTERN",
        requires = "profile",
        conflicts_with_all = ["cpus", "count"]
    )]
    pub pattern: Option<String>,
    /// Print the cell as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CellRenew {
    /// The name by which 'seatmap cell list' has it.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL, value_parser = name)]
    pub name: Name,
    /// When it ends, from now: 30s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = lease_s)]
    pub ttl: u64,
    /// Print the cell as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CellNamed {
    /// The name by which 'seatmap cell list' has it.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL, value_parser = name)]
    pub name: Name,
    /// Print it as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CellRun {
    /// The cell [default: cell]. Directly after -- the command begins, and the cell is the default
    /// one.
    #[arg(value_name = "NAME")]
    pub name: Option<OsString>,
    /// Seat threads by this plan, whose CPUs are the cell's; without it each takes the next CPU,
    /// over and over.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Write the seating, and the noise that the program had, as JSON.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Say nothing, unless a thread does not sit where it should.
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// A word of a command line that `cell run` cannot use.
#[derive(Debug, thiserror::Error)]
pub enum CellRunError {
    /// The first word names no cell.
    #[error(
        "{0}; write seatmap cell run NAME COMMAND, or -- before the command for the default cell"
    )]
    Name(#[from] NameError),
    /// Only the cell was named.
    #[error(
        "COMMAND is missing: write seatmap cell run NAME COMMAND, or seatmap cell run -- COMMAND"
    )]
    NoCommand,
}

impl CellRun {
    /// The cell and the command, from the words of the whole command line. The parser does not tell
    /// whether `--` stood before the first word; the words do, since everything up to the end is
    /// the command's.
    ///
    /// # Errors
    /// The first word names no cell, or there is no command.
    pub fn cell_and_command(
        &self,
        words: &[OsString],
    ) -> Result<(Name, Vec<OsString>), CellRunError> {
        let Some(first) = &self.name else { return Err(CellRunError::NoCommand) };
        // The cell's place and the command are the last words of the line, so that a `--` stands
        // right before them or nowhere.
        let own_words = self.command.len() + 1;
        let before = words.len().checked_sub(own_words + 1).and_then(|at| words.get(at));
        // `seatmap cell run -- app` puts `app` where the name belongs: the command begins there.
        let is_unnamed = before.is_some_and(|word| word == "--")
            && words.get(words.len() - own_words) == Some(first);
        if is_unnamed {
            let command = std::iter::once(first).chain(&self.command).cloned().collect();
            return Ok((name(seatmap_cell::name::USUAL)?, command));
        }
        let cell = name(&first.to_string_lossy())?;
        if self.command.is_empty() {
            Err(CellRunError::NoCommand)
        } else {
            Ok((cell, self.command.clone()))
        }
    }
}

fn name(text: &str) -> Result<Name, NameError> {
    text.parse()
}
