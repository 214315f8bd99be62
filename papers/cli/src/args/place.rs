//! Arguments of `seatmap-papers place` and `seatmap-papers measure`.

use crate::figures::FigureChanges;
use clap::{Args, ValueEnum};
use seatmap_console::values::{cpus, duration, size};
use seatmap_os::CpuList;
use seatmap_place::PlaceMethod;
use seatmap_place::search::SearchTime;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct CellBePlaceArgs {
    /// The Cell model, such as cell-qs20, or a model file.
    #[arg(long, value_name = "MACHINE", default_value = "cell-qs20")]
    pub on: String,
    #[command(flatten)]
    pub figures: FigureChanges,
    /// The communication pattern of the tasks: a generator such as ring:8 ('seatmap pattern list'),
    /// or a file; '-' is stdin.
    #[arg(long, value_name = "PATTERN")]
    pub pattern: String,
    /// The SPEs for tasks; by default all.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    /// The search method.
    #[arg(long, default_value = "auto")]
    pub method: CellBeMethodChoice,
    /// Message size of the heaviest edge in bytes; k stands for 1024.
    #[arg(long, value_name = "SIZE", default_value = "64k", value_parser = size)]
    pub packet: u32,
    /// How often each message is sent.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub rounds: u32,
    /// Time limit of the search: 500ms, 10s, 2m; a plain number is in seconds. The search ends
    /// earlier if the result is proven optimal.
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = duration)]
    pub seconds: Duration,
    /// Stop after this many kicks instead; the result is then the same on every computer.
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub kicks: Option<u64>,
    /// Write the plan to a file; - is stdout.
    #[arg(short, long, value_name = "PLAN")]
    pub output: Option<PathBuf>,
    /// Draw the tasks on the rings, in numerical order and as planned.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print the plan as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

impl CellBePlaceArgs {
    pub fn time(&self) -> SearchTime {
        self.kicks.map_or(SearchTime::Seconds(self.seconds.as_secs_f64()), SearchTime::Kicks)
    }
}

/// The search method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CellBeMethodChoice {
    /// A portfolio of starting points, each refined.
    Auto,
    /// Divide the tasks evenly among the chips with little traffic between them, then place each
    /// chip's tasks (Sudheer et al. 2009).
    Partition,
}

impl From<CellBeMethodChoice> for PlaceMethod {
    fn from(choice: CellBeMethodChoice) -> Self {
        match choice {
            CellBeMethodChoice::Auto => PlaceMethod::Auto,
            CellBeMethodChoice::Partition => PlaceMethod::Partition,
        }
    }
}

#[derive(Debug, Args)]
pub struct CellBeMeasureArgs {
    /// The Cell model, such as cell-qs20, or a model file.
    #[arg(long, value_name = "MACHINE", default_value = "cell-qs20")]
    pub on: String,
    /// Write the profile to a file; by default to stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
