//! `seatmap model`.

use clap::{Args, Subcommand};
use seatmap_console::waiting::Waiting;
use seatmap_console::{CliResult, Destination, input, output};
use seatmap_measure::twin::{self, Needs};
use std::path::PathBuf;

#[derive(Args)]
pub struct Model {
    #[command(subcommand)]
    action: ModelAction,
}

#[derive(Subcommand)]
enum ModelAction {
    /// Fit a simulated machine, a twin, to a measured or imported one.
    Fit(FitArgs),
}

#[derive(Args)]
struct FitArgs {
    /// The machine: host, the name of a bundled one, or any file that show reads.
    #[arg(value_name = "PROFILE")]
    profile: String,
    /// The twin's file; - is stdout. Optional with --json: then no twin is written.
    #[arg(short, long, value_name = "FILE", required_unless_present = "json")]
    output: Option<PathBuf>,
    /// Refuse a profile with distances for lines of one home only.
    #[arg(long)]
    homes: bool,
    /// Refuse a profile without a loaded curve, whose capacities would be assumptions.
    #[arg(long)]
    loaded: bool,
    /// Print only the twin's fidelity as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

pub fn run(typed: &Model) -> CliResult {
    let ModelAction::Fit(typed) = &typed.action;
    // A missing folder must not cost the fit.
    let destination = output::file(typed.output.as_deref(), typed.json)?;
    let to_stdout = destination == Some(Destination::Stdout);
    let profile = input::profile(&typed.profile)?;
    let waiting = Waiting::new("fitting", None);
    let fitted = twin::fit(&profile, Needs { homes: typed.homes, loaded: typed.loaded })?;
    // The line on the terminal is removed before anything is printed.
    drop(waiting);
    destination.map_or(Ok(()), |destination| destination.write(&fitted.levels.to_toml()))?;
    match (typed.json, to_stdout) {
        (true, _) => output::json(&fitted.report),
        (false, true) => Ok(()),
        (false, false) => output::show(&seatmap_report::twin::page(&fitted.report)),
    }
}
