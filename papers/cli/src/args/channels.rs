//! Arguments of `seatmap-papers channels`.

use clap::{Args, Subcommand, ValueEnum};
use seatmap_console::values::cpus;
use seatmap_experiments::channels::pair_gain::PairSeats;
use seatmap_os::CpuList;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ChannelsArgs {
    #[command(subcommand)]
    pub what: ChannelsWhat,
    /// The machine: host, a model such as xeon-phi-5110p, or a model file.
    #[arg(long, value_name = "MACHINE", default_value = "host", global = true)]
    pub on: String,
    /// The CPUs of this computer to run on; by default those in this process's affinity mask.
    #[arg(long, value_name = "LIST", value_parser = cpus, global = true)]
    pub cpus: Option<CpuList>,
    /// The seed of random choices.
    #[arg(long, value_name = "N", default_value_t = 1, global = true)]
    pub seed: u64,
    /// Write a picture of the result.
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
    /// Core distances from one CPU to every other core over one line, alone or with other pairs
    /// running.
    Curve {
        /// The CPU to measure from.
        #[arg(long, value_name = "CPU", default_value_t = 0)]
        from: u32,
        /// The number of the candidate line.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 0,
            value_parser = clap::value_parser!(u32).range(..1_000_000)
        )]
        line: u32,
        /// Concurrent pairs; all but the measured one have random seats.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 1,
            value_parser = clap::value_parser!(u16).range(1..)
        )]
        pairs: u16,
        /// How often to choose new seats for the other pairs.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 1,
            value_parser = clap::value_parser!(u32).range(1..=10_000)
        )]
        runs: u32,
    },
    /// Distances of many concurrent pairs, at random and in slices of the ring.
    Slices {
        /// Concurrent pairs.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 60,
            value_parser = clap::value_parser!(u16).range(1..)
        )]
        pairs: u16,
        /// Number of slices, a divisor of the number of cores.
        #[arg(long, value_name = "K", default_value_t = 4)]
        sections: usize,
        /// Candidate lines; by default a quarter more than pairs.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        lines: Option<u16>,
        /// How often to choose new seats and lines.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 3,
            value_parser = clap::value_parser!(u32).range(1..=10_000)
        )]
        runs: u32,
    },
    /// The gain of a producer and a consumer from seats near the home of their channel, including
    /// the time to find the home.
    ProducerConsumer {
        /// The seats of producer and consumer.
        #[arg(long, default_value = "close-cores")]
        seats: SeatsChoice,
        /// Number of comparisons, each with a different line.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 100,
            value_parser = clap::value_parser!(u32).range(1..=10_000)
        )]
        iterations: u32,
        /// Number of values per run.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 8000,
            value_parser = clap::value_parser!(u64).range(1..=100_000_000)
        )]
        values: u64,
    },
    /// The gain of a Mandelbrot renderer from one slice for each coordinator, including the time to
    /// find homes.
    Mandelbrot {
        /// Number of coordinators and of slices of the ring.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 4,
            value_parser = clap::value_parser!(u8).range(1..)
        )]
        coordinators: u8,
        /// Workers per coordinator.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 8,
            value_parser = clap::value_parser!(u8).range(1..)
        )]
        workers: u8,
        /// Candidate lines; by default a quarter more than channels.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        lines: Option<u16>,
        /// Number of comparisons, each with different lines.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 10,
            value_parser = clap::value_parser!(u32).range(1..=10_000)
        )]
        iterations: u32,
        /// Width and height of an image in points; every eighth point is rendered, and the time is
        /// scaled.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 256,
            value_parser = clap::value_parser!(u32).range(1..=4096)
        )]
        side: u32,
        /// Images of the zoom to render; the time is scaled to 100 images.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 4,
            value_parser = clap::value_parser!(u32).range(1..=100)
        )]
        frames: u32,
    },
}

/// The seats of producer and consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SeatsChoice {
    /// Two hardware threads of the core nearest to the home.
    SameCore,
    /// The core nearest to the home, and the next one.
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
