//! `seatmap-papers rank`, as typed.

use crate::figures::FigureChanges;
use clap::{Args, Subcommand, ValueEnum};
use seatmap_cell_sim::workload::MessageLibrary;
use seatmap_console::over_ranks::MeetingPlace;
use seatmap_console::values::cpus;
use seatmap_experiments::rank::{Shard, Variant};
use seatmap_os::CpuList;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct RankArgs {
    #[command(subcommand)]
    pub command: Option<RankCommand>,
    #[command(flatten)]
    pub study: RankStudy,
    #[command(flatten)]
    pub results: RankResults,
}

#[derive(Debug, Subcommand)]
pub enum RankCommand {
    /// Put the parts together that --shard made.
    Merge {
        /// The parts, as -o wrote them.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        results: RankResults,
    },
}

/// The workload.
#[derive(Debug, Args)]
pub struct RankStudy {
    /// The machine: host, a model such as cell-ps3, or a file of one.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    pub on: String,
    /// The CPUs of this computer to run on; by default all that this process begins with.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    #[command(flatten)]
    pub figures: FigureChanges,
    /// The pattern, that is, who talks to whom: ring:N or ring:N:bidirectional.
    #[arg(long, value_name = "PATTERN", required = true)]
    pub pattern: Option<String>,
    /// Send long messages along any pattern instead, as Sudheer et al. did: into partners' local
    /// stores, step by step.
    #[arg(long, conflicts_with_all = ["unidirectional", "symmetry"])]
    pub long: bool,
    /// Bytes of a packet or message; k stands for 1024.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1k",
        value_parser = seatmap_console::values::size
    )]
    pub packet: u32,
    /// Packets that each task takes from each side.
    #[arg(long, value_name = "N", default_value_t = seatmap_experiments::rank::setup::USUAL_ROUNDS)]
    pub rounds: u32,
    /// Bytes of an entry of the matrix in which the ring's library keeps its notifications: 4, 8,
    /// 16 or 128.
    #[arg(
        long,
        value_name = "SIZE",
        default_value_t = MessageLibrary::default().entry_bytes,
        conflicts_with = "long"
    )]
    pub entry: u32,
    /// Cycles of the ring's library between two looks at that matrix.
    #[arg(
        long,
        value_name = "CYCLES",
        default_value_t = MessageLibrary::default().poll_cycles,
        conflicts_with = "long"
    )]
    pub poll: u32,
    /// How often each mapping is run.
    #[arg(long, value_name = "R", default_value_t = 3)]
    pub runs: u32,
    /// Where thread i sits.
    #[arg(long, default_value = "default")]
    pub variant: VariantChoice,
    /// Run so many mappings instead of all: those that one would try first, and others at random.
    #[arg(long, value_name = "K")]
    pub sample: Option<u64>,
    /// Send packets one way round only.
    #[arg(long)]
    pub unidirectional: bool,
    /// Run one of each two mappings that are mirror images of each other.
    #[arg(long)]
    pub symmetry: bool,
    /// Run one of N parts of the mappings; 'seatmap-papers rank merge' puts their files together.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Spread the study over all ranks of this start: srun, mpirun or torchrun starts the same
    /// command on each node, or set RANK and WORLD_SIZE. Rank 0 writes the results.
    #[arg(long, conflicts_with = "shard")]
    pub spread: bool,
    #[command(flatten)]
    pub meeting: MeetingPlace,
    /// Keep finished runs in this file, and go on where it ends.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Where random choices start.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write what a PMU would have counted in the first run of the best and of the worst mapping of
    /// a model.
    #[arg(long, value_name = "FILE")]
    pub counters: Option<PathBuf>,
}

/// Where the ranking goes.
#[derive(Debug, Args)]
pub struct RankResults {
    /// Write the ranking to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the mappings and their times as a table.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the times over the ranks.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write one self-contained page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the ranking as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// Where thread i sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VariantChoice {
    /// On a worker that each run draws at random.
    Default,
    /// On worker i.
    Pinned,
}

impl From<VariantChoice> for Variant {
    fn from(choice: VariantChoice) -> Self {
        match choice {
            VariantChoice::Default => Variant::Default,
            VariantChoice::Pinned => Variant::Pinned,
        }
    }
}
