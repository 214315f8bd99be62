//! The command `seatmap-papers`: a verb for each published experiment.

mod args;
mod figures;
mod guides;
mod known_values;
mod machine;
mod verbs;

use args::{PapersArgs, PapersCommand};
use seatmap_console::error::CliError;
use seatmap_console::program;
use seatmap_console::running::CliProgram;
use std::process::ExitCode;

const PROGRAM: CliProgram = CliProgram {
    name: "seatmap-papers",
    command: args::command,
    completion_variable: "SEATMAP_PAPERS_COMPLETE",
    known_values: known_values::of,
    guides: guides::GUIDES,
    elsewhere: &[],
};

fn main() -> ExitCode {
    program::main(PROGRAM, run)
}

fn run(typed: PapersArgs) -> Result<(), CliError> {
    match typed.command {
        PapersCommand::Rank(rank) => verbs::rank::run(&rank),
        PapersCommand::Place(place) => verbs::place::run(&place),
        PapersCommand::Measure(measure) => verbs::measure::run(&measure),
        PapersCommand::Stats(stats) => verbs::stats::run(&stats),
        PapersCommand::Channels(channels) => verbs::channels::run(&channels),
        PapersCommand::Workers(workers) => verbs::workers::run(&workers),
        PapersCommand::Controller(controller) => verbs::controller::run(controller.verb),
        PapersCommand::Study(study) => verbs::study::run(&study),
        PapersCommand::Shell(verb) => verb.run(&PROGRAM),
    }
}
