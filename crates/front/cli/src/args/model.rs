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
    /// Make a machine that the simulator runs of a measured or imported one: its twin.
    Fit(FitArgs),
}

#[derive(Debug, Args)]
pub struct FitArgs {
    /// The machine: host, the name of a bundled one, or any file that show reads.
    #[arg(value_name = "PROFILE")]
    pub profile: String,
    /// The twin's file; - is stdout. With --json it may be left out, and no twin is written.
    #[arg(short, long, value_name = "FILE", required_unless_present = "json")]
    pub output: Option<PathBuf>,
    /// Refuse a profile that knows the distances for lines of one home only.
    #[arg(long)]
    pub homes: bool,
    /// Refuse a profile without a loaded curve, where capacities would be assumptions.
    #[arg(long)]
    pub loaded: bool,
    /// Print how like its original the twin is as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}
