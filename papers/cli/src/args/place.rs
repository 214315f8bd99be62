//! `seatmap-papers place` and `seatmap-papers measure`, as typed.

use clap::{Args, ValueEnum};
use seatmap_console::values::{cpus, duration, size};
use seatmap_os::CpuList;
use seatmap_place::PlaceMethod;
use seatmap_place::search::SearchTime;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct CellBePlaceArgs {
    /// The model of the Cell, such as cell-qs20, or a file of one.
    #[arg(long, value_name = "MACHINE", default_value = "cell-qs20")]
    pub on: String,
    /// The pattern, that is, who talks to whom: a generator such as ring:8 ('seatmap pattern
    /// list'), or a file; '-' is stdin.
    #[arg(long, value_name = "PATTERN")]
    pub pattern: String,
    /// The SPEs that tasks may sit on; all by default.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    /// The method of the search.
    #[arg(long, default_value = "auto")]
    pub method: CellBeMethodChoice,
    /// Bytes of the heaviest edge's message; k stands for 1024.
    #[arg(long, value_name = "SIZE", default_value = "64k", value_parser = size)]
    pub packet: u32,
    /// How often all messages are sent.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub rounds: u32,
    /// How long to search: 500ms, 10s, 2m; a number alone is seconds. Less where the answer is
    /// proven sooner.
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = duration)]
    pub seconds: Duration,
    /// Stop after so many kicks instead, for the same answer everywhere.
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub kicks: Option<u64>,
    /// Write the plan to a file; - is stdout.
    #[arg(short, long, value_name = "PLAN")]
    pub output: Option<PathBuf>,
    /// Draw the tasks on the rings, in the order of their numbers and as planned.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print the plan as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

impl CellBePlaceArgs {
    /// How long to search.
    pub fn time(&self) -> SearchTime {
        self.kicks.map_or(SearchTime::Seconds(self.seconds.as_secs_f64()), SearchTime::Kicks)
    }
}

/// The method of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CellBeMethodChoice {
    /// A portfolio of starts, each refined.
    Auto,
    /// First over the chips, evenly and with little crossing, then inside them (Sudheer et al.
    /// 2009).
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
    /// The model of the Cell, such as cell-qs20, or a file of one.
    #[arg(long, value_name = "MACHINE", default_value = "cell-qs20")]
    pub on: String,
    /// Write the profile to a file; on stdout by default.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
