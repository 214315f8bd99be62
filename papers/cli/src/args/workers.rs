//! Arguments of `seatmap-papers workers`.

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
    /// calls, gains, streams, libspe2 (C programs; needs seatmap-cellcc), cellule (on a Cell
    /// model), or a program: matrix:SIZE:ITERATIONS or black-scholes:BLOCKS:CYCLES; the number of
    /// repetitions is optional.
    #[arg(value_name = "WHAT", default_value = "calls")]
    pub what: WorkersMeasurement,
    /// The Cell model for cellule, such as cell-qs20.
    #[arg(long, value_name = "MODEL")]
    pub on: Option<String>,
    /// The controller's CPU, then the workers' CPUs; by default all CPUs in this process's affinity
    /// mask.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    /// Number of workers; by default one on each CPU except the controller's. One more shares the
    /// controller's CPU. For cellule, the highest number of SPEs of a chip. Not for streams.
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// Number of turns of workers and threads, 9 by default; not for streams.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub turns: Option<u32>,
    #[command(flatten)]
    pub figures: FigureChanges,
    /// The seed for the phases of timers and other partitions at the start of a cellule run; 1 by
    /// default.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Duration of each configuration of streams, 3s by default: 500ms, 10s, 2m; a plain number is
    /// in seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub seconds: Option<Duration>,
    /// Send each stream through a gigabit port, between network namespaces (requires root).
    #[arg(long)]
    pub ports: bool,
    /// Run inside a temporary cell of one CPU; for streams through ports.
    #[arg(long, requires = "ports")]
    pub in_cell: bool,
    /// Write one self-contained page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Draw the gain by size.
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
    /// The gain of programs by size.
    Gains,
    /// TCP streams through pollers.
    Streams,
    /// The C programs with libspe2.
    Libspe2,
    /// Both styles on a Cell model.
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

/// From a few of the windows in which streams' shares are counted, to an hour.
fn seconds(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(500)..=Duration::from_secs(3600), "500ms to 1h")
}
