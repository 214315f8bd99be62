//! `seatmap compare`, as typed.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Compare {
    /// The first machine: host, the name of a bundled one, or a file.
    #[arg(value_name = "MACHINE")]
    pub first: String,
    /// The machine that is compared with it; this computer by default.
    #[arg(value_name = "MACHINE", default_value = "host")]
    pub second: String,
    /// Write one self-contained page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the comparison as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}
