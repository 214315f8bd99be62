//! `seatmap`, the command: it reads the command line, calls the library that does the work, and reports the result.
//! No logic lives here.

mod args;
mod bar;
mod completion;
mod error;
mod files_needed;
mod input;
mod interrupt;
mod meet;
#[cfg(test)]
mod mentioned;
mod misread;
mod output;
mod over_ranks;
mod pattern_input;
mod place;
mod plan_input;
mod printable;
mod progress;
mod stdio;
mod verbs;
mod view;
mod waiting;

use args::{Command, Typed};
use clap::FromArgMatches;
use error::CliError;
use seatmap_report::terminal::Colour;
use std::process::ExitCode;

fn main() -> ExitCode {
    let answered = completion::answer().unwrap_or_else(|| parse().map_err(misread).and_then(run));
    match answered {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn parse() -> Result<Typed, clap::Error> {
    Typed::from_arg_matches(&args::command().try_get_matches()?)
}

/// Help and version go to stdout, which may be closed or full; a mistake in the command line goes to stderr.
fn misread(error: clap::Error) -> CliError {
    if let Some(sentence) = misread::sentence(&error, std::env::args_os()) {
        return CliError::input(sentence);
    }
    let text = error.render();
    if error.use_stderr() {
        return CliError::Typed(error);
    }
    let has_colour = view::colour(args::ColourChoice::Auto, &std::io::stdout()) != Colour::None;
    let shown = if has_colour { text.ansi().to_string() } else { text.to_string() };
    // Help is all that was asked for.
    output::print(&shown).err().unwrap_or(CliError::Told)
}

fn run(typed: Typed) -> Result<(), CliError> {
    files_needed::check(&typed.command)?;
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
        Command::Check(check) => verbs::check::run(&check, typed.colour),
        Command::Top(top) => verbs::top::run(&top, typed.colour),
        Command::Observe(observe) => verbs::observe::run(&observe),
        Command::Bench(bench) => verbs::bench::run(&bench),
        Command::Tune(tune) => verbs::tune::run(&tune),
        Command::Noise(noise) => verbs::noise::run(&noise),
        Command::Cell(cell) => verbs::cell::run(&cell),
        Command::Doctor(doctor) => verbs::doctor::run(&doctor, typed.colour),
        Command::Cluster(cluster) => verbs::cluster::run(&cluster),
        Command::Stats(stats) => verbs::stats::run(&stats),
        Command::Workers(workers) => verbs::workers::run(&workers),
        Command::Channels(channels) => verbs::channels::run(&channels),
        Command::Study(study) => verbs::study::run(&study),
        Command::Machines(machines) => verbs::machines::run(&machines),
        Command::Completions { shell } => verbs::shell::completions(shell),
        Command::Man { folder } => verbs::shell::man(folder.as_deref()),
    }
}
