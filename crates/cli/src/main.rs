//! `seatmap`, the command: it reads what was typed, calls the library that does it, and says how it went. No logic lives
//! here.

mod args;
mod bar;
mod error;
mod input;
mod interrupt;
mod model_input;
mod output;
mod pattern_input;
mod place;
mod plan_input;
mod progress;
mod verbs;
mod view;
mod waiting;

use args::{Command, Typed};
use clap::Parser;
use error::CliError;
use std::process::ExitCode;

fn main() -> ExitCode {
    let typed = Typed::parse();
    match run(typed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(typed: Typed) -> Result<(), CliError> {
    match typed.command {
        Command::Measure(measure) => verbs::measure::run(measure, typed.colour),
        Command::Import(import) => verbs::import::run(import),
        Command::Export(export) => verbs::export::run(export),
        Command::Show(show) => verbs::show::run(show, typed.colour),
        Command::Place(place) => verbs::place::run(&place),
        Command::Pattern(pattern) => verbs::pattern::run(pattern),
        Command::Model(model) => verbs::model::run(&model),
        Command::Rank(rank) => verbs::rank::run(&rank),
        Command::Run(run) => verbs::run::run(&run),
        Command::Noise(noise) => verbs::noise::run(&noise),
        Command::Cell(cell) => verbs::cell::run(&cell),
        Command::Doctor(doctor) => verbs::doctor::run(&doctor, typed.colour),
        Command::Stats(stats) => verbs::stats::run(&stats),
        Command::Workers(workers) => verbs::workers::run(&workers),
        Command::Channels(channels) => verbs::channels::run(&channels),
        Command::Study(study) => verbs::study::run(&study),
        Command::Machines(machines) => verbs::machines::run(&machines),
        Command::Completions { shell } => verbs::shell::completions(shell),
        Command::Man { folder } => verbs::shell::man(folder.as_deref()),
    }
}
