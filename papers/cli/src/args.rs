//! Command-line arguments.

mod channels;
mod controller;
mod place;
mod rank;
mod stats;
mod study;
mod workers;

pub use channels::*;
pub use controller::*;
pub use place::*;
pub use rank::*;
pub use stats::*;
pub use study::*;
pub use workers::*;

use crate::guides;
use clap::{CommandFactory, Parser, Subcommand};
use seatmap_console::guide::with_guides;
use seatmap_console::shell::{ShellVerb, with_short_help};

/// Options that newcomers do not need: `-h` omits them to fit a screen; `--help` shows all.
const RARELY_NEEDED: [(&str, &str); 2] = [
    (
        "rank",
        "long unidirectional symmetry shard meet secret_file timeout seed counters csv svg sample",
    ),
    ("stats", "private warm_up between stride elements syscall trace class"),
];

/// The command line; rarely needed options appear only in `--help`.
pub fn command() -> clap::Command {
    let command = with_short_help(PapersArgs::command(), &RARELY_NEEDED);
    with_guides(command, guides::GUIDES)
}

/// The experiments of five papers, run again on this computer and on models, including those of
/// machines that no longer exist.
#[derive(Debug, Parser)]
#[command(name = "seatmap-papers", version, max_term_width = 100, arg_required_else_help = true)]
pub struct PapersArgs {
    #[command(subcommand)]
    pub command: PapersCommand,
}

#[derive(Debug, Subcommand)]
pub enum PapersCommand {
    /// Time every mapping of tasks to workers (Keller & Varbanescu).
    Rank(Box<RankArgs>),
    /// Place the tasks of a pattern on a Cell (Sudheer et al.).
    Place(Box<CellBePlaceArgs>),
    /// Write the distances of a Cell as a profile.
    Measure(CellBeMeasureArgs),
    /// Measure the cost of threads, messages, copies and atomics (CellStats).
    Stats(Box<Stats>),
    /// Measure the gain of seats near the homes of lines (Liu et al.).
    Channels(Box<ChannelsArgs>),
    /// Compare pinned workers with threads (Gupta et al.).
    Workers(Workers),
    /// Create cells for several users, in turn (Gupta et al.).
    Controller(Box<Controller>),
    /// Repeat a published experiment on the models.
    Study(StudyArgs),
    #[command(flatten)]
    Shell(ShellVerb),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_definition_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn short_help_fits_a_screen() {
        let mut command = command();
        command.build();
        for verb in command.get_subcommands_mut() {
            let lines = verb.render_help().to_string().lines().count();
            assert!(lines <= 40, "{} -h has {lines} lines", verb.get_name());
        }
    }
}
