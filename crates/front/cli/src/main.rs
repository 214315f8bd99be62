//! `seatmap`, the command: it reads the command line, calls the library that does the work, and
//! reports the result. No logic lives here.

mod args;
mod files_needed;
mod guides;
mod known_values;
#[cfg(test)]
mod mentioned;
#[cfg(test)]
mod misread_tests;
mod myself;
mod progress;
#[cfg(test)]
mod schema_tests;
mod verbs;

use args::{Command, SeatmapArguments};
use seatmap_console::error::CliError;
use seatmap_console::program;
use seatmap_console::running::Program;
use seatmap_console::view;
use seatmap_os::scratch;
use std::process::ExitCode;

const PROGRAM: Program = Program {
    name: "seatmap",
    command: args::command,
    completion_variable: "SEATMAP_COMPLETE",
    known_values: known_values::of,
    guides: guides::ALL,
    // A person who types a verb of the papers here is told which command has it.
    elsewhere: &[
        ("rank", "seatmap-papers rank"),
        ("stats", "seatmap-papers stats"),
        ("channels", "seatmap-papers channels"),
        ("workers", "seatmap-papers workers"),
        ("study", "seatmap-papers study"),
        ("place --packet", "seatmap-papers place --packet"),
        ("tune --packet", "seatmap-papers place --packet"),
        ("cell serve", "seatmap-papers controller serve"),
        ("cell create --via", "seatmap-papers controller create"),
        ("cell create --hold", "seatmap-papers controller create --hold"),
        ("cell create --no-wait", "seatmap-papers controller create --no-wait"),
        ("cell create --priority", "seatmap-papers controller create --priority"),
        ("cell create --turns", "seatmap-papers controller create --turns"),
        ("cell list --via", "seatmap-papers controller list"),
        ("cell destroy --via", "seatmap-papers controller destroy"),
        ("cell renew --via", "seatmap-papers controller renew"),
        ("cell run --channel", "seatmap-papers controller start"),
        ("cell run --no-io", "seatmap-papers controller start --no-io"),
    ],
};

fn main() -> ExitCode {
    program::main(PROGRAM, run)
}

fn run(typed: SeatmapArguments) -> Result<(), CliError> {
    if typed.wide {
        view::stay_wide();
    }
    // Whatever verb was killed, the next one clears up.
    scratch::sweep_all();
    // Before any verb: with a missing `/proc` a check would find no program, and so nothing wrong.
    files_needed::check(&typed.command)?;
    match typed.command {
        Command::Measure(measure) => verbs::measure::run(measure, typed.colour),
        Command::Import(import) => verbs::import::run(import),
        Command::Export(export) => verbs::export::run(export),
        Command::Show(show) => verbs::show::run(&show, typed.colour),
        Command::Compare(compare) => verbs::compare::run(&compare),
        Command::Place(place) => verbs::place::run(&place),
        Command::Services(services) => verbs::services::run(&services),
        Command::Pattern(pattern) => verbs::pattern::run(pattern),
        Command::Model(model) => verbs::model::run(&model),
        Command::Run(run) => verbs::run::run(&run),
        Command::Advise(advise) => verbs::advise::run(&advise),
        Command::Check(check) => verbs::check::run(&check, typed.colour),
        Command::Top(top) => verbs::top::run(&top, typed.colour),
        Command::Observe(observe) => verbs::observe::run(&observe),
        Command::Bench(bench) => verbs::bench::run(&bench),
        Command::Tune(tune) => verbs::tune::run(&tune),
        Command::Pretend(pretend) => verbs::pretend::run(&pretend),
        Command::Noise(noise) => verbs::noise::run(&noise),
        Command::Cell(cell) => verbs::cell::run(&cell),
        Command::Doctor(doctor) => verbs::doctor::run(&doctor, typed.colour),
        Command::Cluster(cluster) => verbs::cluster::run(&cluster),
        Command::Machines(machines) => verbs::machines::run(&machines),
        Command::Shell(verb) => verb.run(&PROGRAM),
    }
}
