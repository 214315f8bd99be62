//! `seatmap model`, as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Model {
    #[command(subcommand)]
    pub action: ModelAction,
}

#[derive(Debug, Subcommand)]
pub enum ModelAction {
    /// Fit a simulated machine, a twin, to a measured or imported one.
    Fit(FitArgs),
}

#[derive(Debug, Args)]
pub struct FitArgs {
    /// The machine: host, the name of a bundled one, or any file that show reads.
    #[arg(value_name = "PROFILE")]
    pub profile: String,
    /// The twin's file; - is stdout. Optional with --json: then no twin is written.
    #[arg(short, long, value_name = "FILE", required_unless_present = "json")]
    pub output: Option<PathBuf>,
    /// Refuse a profile with distances for lines of one home only.
    #[arg(long)]
    pub homes: bool,
    /// Refuse a profile without a loaded curve, whose capacities would be assumptions.
    #[arg(long)]
    pub loaded: bool,
    /// Print only the twin's fidelity as JSON, on stdout.
    #[arg(long)]
    pub json: bool,
}
