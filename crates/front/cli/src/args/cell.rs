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
    /// Create a cell: move all other work off its CPUs.
    Create(CellCreate),
    /// List all cells.
    List {
        /// Print only a JSON array, on stdout.
        #[arg(long)]
        json: bool,
    },
    /// Show a cell: its isolation, the work left on its CPUs, and its faults.
    Show(CellNamed),
    /// Run a program in a cell, one thread per CPU.
    Run(CellRun),
    /// Verify that a cell is still as it was created; exit code 1 if it is not.
    Verify(CellNamed),
    /// Destroy a cell. Programs in it are moved out.
    Destroy {
        /// The cell's name, as in 'seatmap cell list'.
        #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
        name: Name,
    },
    /// Change the end of a cell's lease.
    Renew(CellRenew),
    /// Undo all changes of all cells on this host.
    Restore,
}

#[derive(Debug, Args)]
pub struct CellCreate {
    #[command(flatten)]
    pub cell: NewCell,
    /// Choose CPUs that are close to each other by this profile.
    #[arg(long, alias = "near", value_name = "FILE")]
    pub profile: Option<String>,
    /// Choose one CPU per task of this pattern, so that communication is cheapest by the profile.
    #[arg(
        long,
        value_name = "PATTERN",
        requires = "profile",
        conflicts_with_all = ["cpus", "count"]
    )]
    pub pattern: Option<String>,
    /// Print only the cell as JSON, on stdout.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CellRenew {
    /// The cell's name, as in 'seatmap cell list'.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
    pub name: Name,
    /// Time until its end, from now: 30s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = lease_s)]
    pub ttl: u64,
    /// Print only the cell as JSON, on stdout.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CellNamed {
    /// The cell's name, as in 'seatmap cell list'.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
    pub name: Name,
    /// Print only JSON, on stdout.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CellRun {
    /// The cell [default: cell]. After a leading -- the command follows, in the default cell.
    #[arg(value_name = "NAME")]
    pub name: Option<OsString>,
    /// Seat threads by this plan on the cell's CPUs; by default each takes the next CPU in turn.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Write the seating, and the noise during the run, as JSON.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print nothing unless a thread is off its seat.
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
    /// The cell and the command, from the words of the whole command line: the parser does not
    /// report whether `--` precedes the first word.
    ///
    /// # Errors
    /// The first word names no cell, or there is no command.
    pub fn cell_and_command(
        &self,
        words: &[OsString],
    ) -> Result<(Name, Vec<OsString>), CellRunError> {
        let Some(first) = &self.name else { return Err(CellRunError::NoCommand) };
        // The cell and the command end the line, so a `--` is right before them or absent.
        let own_words = self.command.len() + 1;
        let before = words.len().checked_sub(own_words + 1).and_then(|at| words.get(at));
        // In `seatmap cell run -- app`, `app` begins the command.
        let is_unnamed = before.is_some_and(|word| word == "--")
            && words.get(words.len() - own_words) == Some(first);
        if is_unnamed {
            let command = std::iter::once(first).chain(&self.command).cloned().collect();
            return Ok((seatmap_cell::name::USUAL.parse()?, command));
        }
        let cell = first.to_string_lossy().parse()?;
        if self.command.is_empty() {
            Err(CellRunError::NoCommand)
        } else {
            Ok((cell, self.command.clone()))
        }
    }
}
