//! `seatmap`: reads the command line, calls the library behind each verb, and reports the result.

mod files_needed;
#[cfg(test)]
mod guides_tests;
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

use seatmap_console::guide::Guides;
use seatmap_console::running::CliProgram;
use seatmap_console::{CliResult, program, view};
use seatmap_os::scratch;
use std::process::ExitCode;
use verbs::SeatmapArgs;

/// Examples, exit codes, files and variables of each verb.
const GUIDES: Guides = include_str!("guides.txt");

const PROGRAM: CliProgram = CliProgram {
    name: "seatmap",
    command: verbs::command,
    completion_variable: "SEATMAP_COMPLETE",
    known_values: known_values::of,
    guides: GUIDES,
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

fn run(typed: SeatmapArgs) -> CliResult {
    if typed.wide {
        view::stay_wide();
    }
    view::choose_colours(typed.colour);
    // The next command removes what a killed one left.
    scratch::sweep_all();
    // With a missing `/proc` a check would find nothing wrong.
    files_needed::check(&typed.command)?;
    typed.command.run(&PROGRAM)
}
