//! `seatmap-papers workers`, as typed.

use crate::figures::FigureChanges;
use clap::Args;
use seatmap_console::time::time_within;
use seatmap_console::values::cpus;
use seatmap_experiments::cellule::{CelluleError, CelluleWorkload};
use seatmap_os::CpuList;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct Workers {
    /// calls, gains, streams, libspe2 (programs in C; needs seatmap-cellcc), cellule (on a model of
    /// the Cell), or a program: matrix:SIZE:ITERATIONS, black-scholes:BLOCKS:CYCLES; what is
    /// repeated may be left out.
    #[arg(value_name = "WHAT", default_value = "calls")]
    pub what: WorkersMeasurement,
    /// The model of the Cell for cellule, such as cell-qs20.
    #[arg(long, value_name = "MODEL")]
    pub on: Option<String>,
    /// The controller's CPU, then those of the workers; all that this process may use by default.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    /// How many workers; one on each CPU but the controller's by default. One more shares that. For
    /// cellule, up to how many SPEs of a chip. Not for streams.
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// How often workers and threads take turns, 9 times by default; not for streams.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub turns: Option<u32>,
    #[command(flatten)]
    pub figures: FigureChanges,
    /// Decides where timers and other partitions stand when a run of cellule begins; 1 by default.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How long each configuration of streams lasts, 3s by default: 500ms, 10s, 2m; a number alone
    /// is seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub seconds: Option<Duration>,
    /// Send streams through a gigabit port each, between network namespaces (requires root).
    #[arg(long)]
    pub ports: bool,
    /// Run inside a cell of one CPU made for it and undone afterwards, for streams through ports.
    #[arg(long, requires = "ports")]
    pub in_cell: bool,
    /// Write one self-contained page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Draw what is gained by size.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print one JSON document on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// The measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkersMeasurement {
    /// The cost of each call.
    Calls,
    /// The program whose gain by size is measured.
    Gains,
    /// TCP streams through pollers.
    Streams,
    /// The C programs against libspe2.
    Libspe2,
    /// Both styles on a model of the Cell.
    Cellule,
    /// A program.
    Program(CelluleWorkload),
}

impl FromStr for WorkersMeasurement {
    type Err = CelluleError;

    fn from_str(text: &str) -> Result<Self, CelluleError> {
        match text {
            "calls" => Ok(WorkersMeasurement::Calls),
            "gains" => Ok(WorkersMeasurement::Gains),
            "streams" => Ok(WorkersMeasurement::Streams),
            "libspe2" => Ok(WorkersMeasurement::Libspe2),
            "cellule" => Ok(WorkersMeasurement::Cellule),
            program => program.parse().map(WorkersMeasurement::Program),
        }
    }
}

/// From a few of the windows in which the shares of streams are counted, to an hour.
fn seconds(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(500)..=Duration::from_secs(3600), "500ms to 1h")
}
