//! `seatmap model`.

use crate::args::{FitArgs, Model, ModelAction};
use seatmap_console::error::CliError;
use seatmap_console::input;
use seatmap_console::output::{self, Destination};
use seatmap_console::waiting::Waiting;
use seatmap_measure::twin::Needs;
use seatmap_report::twin;

pub fn run(typed: &Model) -> Result<(), CliError> {
    match &typed.action {
        ModelAction::Fit(fit) => fitted(fit),
    }
}

fn fitted(typed: &FitArgs) -> Result<(), CliError> {
    // A missing folder must not cost the fit.
    let destination = output::file(typed.output.as_deref(), typed.json)?;
    let to_stdout = destination == Some(Destination::Stdout);
    let profile = input::profile(&typed.profile)?;
    let waiting = Waiting::new("fitting", None);
    let fitted =
        seatmap_measure::twin::fit(&profile, Needs { homes: typed.homes, loaded: typed.loaded })?;
    // The line on the terminal is removed before anything is printed.
    drop(waiting);
    destination.map_or(Ok(()), |destination| destination.write(&fitted.levels.to_toml()))?;
    match (typed.json, to_stdout) {
        (true, _) => output::json(&fitted.report),
        (false, true) => Ok(()),
        (false, false) => output::show(&twin::page(&fitted.report)),
    }
}
