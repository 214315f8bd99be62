//! `seatmap-papers`, the command: the published experiments, each as a verb.

mod args;
mod figures;
mod guides;
mod known_values;
mod machine;
mod verbs;

use args::{Command, PapersArguments};
use seatmap_console::error::CliError;
use seatmap_console::program;
use seatmap_console::running::Program;
use std::process::ExitCode;

const PROGRAM: Program = Program {
    name: "seatmap-papers",
    command: args::command,
    completion_variable: "SEATMAP_PAPERS_COMPLETE",
    known_values: known_values::of,
    guides: guides::ALL,
    elsewhere: &[],
};

fn main() -> ExitCode {
    program::main(PROGRAM, run)
}

fn run(typed: PapersArguments) -> Result<(), CliError> {
    match typed.command {
        Command::Rank(rank) => verbs::rank::run(&rank),
        Command::Place(place) => verbs::place::run(&place),
        Command::Measure(measure) => verbs::measure::run(&measure),
        Command::Stats(stats) => verbs::stats::run(&stats),
        Command::Channels(channels) => verbs::channels::run(&channels),
        Command::Workers(workers) => verbs::workers::run(&workers),
        Command::Controller(controller) => verbs::controller::run(controller.verb),
        Command::Study(study) => verbs::study::run(&study),
        Command::Shell(verb) => verb.run(&PROGRAM),
    }
}
