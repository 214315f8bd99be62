//! `seatmap-papers channels`, as typed.

use clap::{Args, Subcommand, ValueEnum};
use seatmap_console::values::cpus;
use seatmap_experiments::channels::pair_gain::PairSeats;
use seatmap_os::CpuList;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ChannelsArgs {
    #[command(subcommand)]
    pub what: ChannelsWhat,
    /// The machine: host, or a model such as xeon-phi-5110p, or a file of one.
    #[arg(long, value_name = "MACHINE", default_value = "host", global = true)]
    pub on: String,
    /// The CPUs of this computer to run on; by default all that this process begins with.
    #[arg(long, value_name = "LIST", value_parser = cpus, global = true)]
    pub cpus: Option<CpuList>,
    /// Where draws start.
    #[arg(long, value_name = "N", default_value_t = 1, global = true)]
    pub seed: u64,
    /// Write a picture of it.
    #[arg(long, value_name = "FILE", global = true)]
    pub svg: Option<PathBuf>,
    /// Write one self-contained page: the figures, and the threads and lines of the last comparison
    /// on the machine.
    #[arg(long, value_name = "FILE", global = true)]
    pub html: Option<PathBuf>,
    /// Print one JSON document on stdout, and nothing else.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ChannelsWhat {
    /// Core distances from one CPU to every other core over one line, alone or among other pairs.
    Curve {
        /// The CPU from which.
        #[arg(long, value_name = "CPU", default_value_t = 0)]
        from: u32,
        /// Which of the candidate lines.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 0,
            value_parser = clap::value_parser!(u32).range(..1_000_000)
        )]
        line: u32,
        /// Pairs at once; all but one sit at random.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 1,
            value_parser = clap::value_parser!(u16).range(1..)
        )]
        pairs: u16,
        /// How often the others are drawn anew.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 1,
            value_parser = clap::value_parser!(u32).range(1..=10_000)
        )]
        runs: u32,
    },
    /// Distances of many pairs at once, at random and in slices of the ring.
    Slices {
        /// Pairs at once.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 60,
            value_parser = clap::value_parser!(u16).range(1..)
        )]
        pairs: u16,
        /// Slices; they must divide the cores.
        #[arg(long, value_name = "K", default_value_t = 4)]
        sections: usize,
        /// Candidate lines; a quarter more than pairs by default.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        lines: Option<u16>,
        /// How often seats and lines are drawn.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 3,
            value_parser = clap::value_parser!(u32).range(1..=10_000)
        )]
        runs: u32,
    },
    /// The gain of a producer and its consumer by seats near their channel's home, the search for
    /// it included.
    ProducerConsumer {
        /// Where the two go.
        #[arg(long, default_value = "close-cores")]
        seats: SeatsChoice,
        /// Comparisons, each over another line.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 100,
            value_parser = clap::value_parser!(u32).range(1..=10_000)
        )]
        iterations: u32,
        /// Values in a run.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 8000,
            value_parser = clap::value_parser!(u64).range(1..=100_000_000)
        )]
        values: u64,
    },
    /// The gain of the Mandelbrot renderer by a slice for each coordinator, the search for homes
    /// included.
    Mandelbrot {
        /// Coordinators, and slices of the ring.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 4,
            value_parser = clap::value_parser!(u8).range(1..)
        )]
        coordinators: u8,
        /// Workers of each.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 8,
            value_parser = clap::value_parser!(u8).range(1..)
        )]
        workers: u8,
        /// Candidate lines; a quarter more than channels by default.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        lines: Option<u16>,
        /// Comparisons, each over other lines.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 10,
            value_parser = clap::value_parser!(u32).range(1..=10_000)
        )]
        iterations: u32,
        /// Points across an image, and down; every eighth is rendered, and time scaled.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 256,
            value_parser = clap::value_parser!(u32).range(1..=4096)
        )]
        side: u32,
        /// Images of the zoom to render; their time is scaled to a hundred.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 4,
            value_parser = clap::value_parser!(u32).range(1..=100)
        )]
        frames: u32,
    },
}

/// Where the two threads go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SeatsChoice {
    /// Two hardware threads of the core nearest to the home.
    SameCore,
    /// That core and the next.
    CloseCores,
}

impl From<SeatsChoice> for PairSeats {
    fn from(choice: SeatsChoice) -> Self {
        match choice {
            SeatsChoice::SameCore => PairSeats::SameCore,
            SeatsChoice::CloseCores => PairSeats::CloseCores,
        }
    }
}
