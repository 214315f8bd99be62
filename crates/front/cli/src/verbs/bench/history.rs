//! `seatmap bench history`.

use super::args::BenchHistory;
use seatmap_console::{CliResult, input};
use seatmap_trial::gate::history::{self, Trends};

pub fn run(typed: &BenchHistory) -> CliResult {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    let entries = input::document(&typed.file, history::read)?;
    let trends = Trends::of(&entries, typed.seed);
    outputs.write(&trends, false)?;
    outputs.show(&trends, &seatmap_report::history::page(&trends))
}
