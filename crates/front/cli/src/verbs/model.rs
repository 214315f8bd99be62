//! `seatmap model`.

use crate::args::{FitArgs, Model, ModelAction};
use seatmap_console::error::CliError;
use seatmap_console::input;
use seatmap_console::output::{self, Destination};
use seatmap_console::waiting::Waiting;
use seatmap_measure::twin::Needs;
use seatmap_report::twin;

/// Makes models.
pub fn run(typed: &Model) -> Result<(), CliError> {
    match &typed.action {
        ModelAction::Fit(fit) => fitted(fit),
    }
}

/// Fits a twin, and says how like its original it is.
fn fitted(typed: &FitArgs) -> Result<(), CliError> {
    // Before the fit: a folder that is not there must not cost the seconds that a fit takes.
    let destination = output::file(typed.output.as_deref(), typed.json)?;
    let to_stdout = destination == Some(Destination::Stdout);
    let profile = input::profile(&typed.profile)?;
    let waiting = Waiting::new("fitting", None);
    let fitted =
        seatmap_measure::twin::fit(&profile, Needs { homes: typed.homes, loaded: typed.loaded })?;
    // The line on the terminal is taken away before anything is printed.
    drop(waiting);
    destination.map_or(Ok(()), |destination| destination.write(&fitted.levels.to_toml()))?;
    match (typed.json, to_stdout) {
        (true, _) => output::json(&fitted.report),
        (false, true) => Ok(()),
        (false, false) => output::show(&twin::page(&fitted.report)),
    }
}
