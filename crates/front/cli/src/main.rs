//! `seatmap`: reads the command line, calls the library behind each verb, and reports the result.

mod args;
mod files_needed;
mod guides;
mod known_values;
#[cfg(test)]
mod mentioned_tests;
#[cfg(test)]
mod misread_tests;
mod myself;
mod progress;
#[cfg(test)]
mod schema_tests;
mod verbs;

use args::{SeatmapArgs, SeatmapCommand};
use seatmap_console::error::CliError;
use seatmap_console::program;
use seatmap_console::running::CliProgram;
use seatmap_console::view;
use seatmap_os::scratch;
use std::process::ExitCode;

const PROGRAM: CliProgram = CliProgram {
    name: "seatmap",
    command: args::command,
    completion_variable: "SEATMAP_COMPLETE",
    known_values: known_values::of,
    guides: guides::ALL,
    // The error for a verb of the papers names its command.
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

fn run(typed: SeatmapArgs) -> Result<(), CliError> {
    if typed.wide {
        view::stay_wide();
    }
    // The next command removes what a killed one left.
    scratch::sweep_all();
    // With a missing `/proc` a check would find nothing wrong.
    files_needed::check(&typed.command)?;
    match typed.command {
        SeatmapCommand::Measure(measure) => verbs::measure::run(measure, typed.colour),
        SeatmapCommand::Import(import) => verbs::import::run(import),
        SeatmapCommand::Export(export) => verbs::export::run(export),
        SeatmapCommand::Show(show) => verbs::show::run(&show, typed.colour),
        SeatmapCommand::Compare(compare) => verbs::compare::run(&compare),
        SeatmapCommand::Cpus(cpus) => verbs::cpus::run(&cpus),
        SeatmapCommand::Place(place) => verbs::place::run(&place),
        SeatmapCommand::Services(services) => verbs::services::run(&services),
        SeatmapCommand::Pattern(pattern) => verbs::pattern::run(pattern),
        SeatmapCommand::Model(model) => verbs::model::run(&model),
        SeatmapCommand::Guardian(guardian) => verbs::guardian::run(&guardian),
        SeatmapCommand::Run(run) => verbs::run::run(&run),
        SeatmapCommand::Advise(advise) => verbs::advise::run(&advise),
        SeatmapCommand::Check(check) => verbs::check::run(&check, typed.colour),
        SeatmapCommand::Top(top) => verbs::top::run(&top, typed.colour),
        SeatmapCommand::Observe(observe) => verbs::observe::run(&observe),
        SeatmapCommand::Bench(bench) => verbs::bench::run(&bench),
        SeatmapCommand::Tune(tune) => verbs::tune::run(&tune),
        SeatmapCommand::Pretend(pretend) => verbs::pretend::run(&pretend),
        SeatmapCommand::Noise(noise) => verbs::noise::run(&noise),
        SeatmapCommand::Cell(cell) => verbs::cell::run(&cell),
        SeatmapCommand::Doctor(doctor) => verbs::doctor::run(&doctor, typed.colour),
        SeatmapCommand::Cluster(cluster) => verbs::cluster::run(&cluster),
        SeatmapCommand::Machines(machines) => verbs::machines::run(&machines),
        SeatmapCommand::Shell(verb) => verb.run(&PROGRAM),
    }
}
