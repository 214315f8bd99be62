//! Arguments of `seatmap-papers rank`.

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
    /// Merge the parts of a ranking made with --shard.
    Merge {
        /// The parts, as written by -o.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        results: RankResults,
    },
}

/// The workload.
#[derive(Debug, Args)]
pub struct RankStudy {
    /// The machine: host, a model such as cell-ps3, or a model file.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    pub on: String,
    /// The CPUs of this computer to run on; by default those in this process's affinity mask.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    #[command(flatten)]
    pub figures: FigureChanges,
    /// The communication pattern of the tasks: ring:N or ring:N:bidirectional.
    #[arg(long, value_name = "PATTERN", required = true)]
    pub pattern: Option<String>,
    /// Send long messages along any pattern instead, as Sudheer et al. did: into the partners'
    /// local stores, step by step.
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
    /// Packets that each task receives from each side.
    #[arg(long, value_name = "N", default_value_t = seatmap_experiments::rank::setup::USUAL_ROUNDS)]
    pub rounds: u32,
    /// Size of an entry in the matrix that the ring's library uses for notifications: 4, 8, 16 or
    /// 128 bytes.
    #[arg(
        long,
        value_name = "SIZE",
        default_value_t = MessageLibrary::default().entry_bytes,
        conflicts_with = "long"
    )]
    pub entry: u32,
    /// Cycles of the ring's library between two polls of that matrix.
    #[arg(
        long,
        value_name = "CYCLES",
        default_value_t = MessageLibrary::default().poll_cycles,
        conflicts_with = "long"
    )]
    pub poll: u32,
    /// Runs of each mapping.
    #[arg(long, value_name = "R", default_value_t = 3)]
    pub runs: u32,
    /// The worker of thread i.
    #[arg(long, default_value = "default")]
    pub variant: VariantChoice,
    /// Run this many mappings instead of all: the most natural ones, and others at random.
    #[arg(long, value_name = "K")]
    pub sample: Option<u64>,
    /// Send packets in one direction only.
    #[arg(long)]
    pub unidirectional: bool,
    /// Run only one of each two mappings that are mirror images.
    #[arg(long)]
    pub symmetry: bool,
    /// Run part I of N of the mappings; 'seatmap-papers rank merge' merges the files of all parts.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Distribute the study over all ranks of a launch: srun, mpirun or torchrun starts the same
    /// command on each node, or you set RANK and WORLD_SIZE. Rank 0 writes the results.
    #[arg(long, conflicts_with = "shard")]
    pub spread: bool,
    #[command(flatten)]
    pub meeting: MeetingPlace,
    /// Save finished runs in this file, and resume from it.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// The seed of random choices.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Exchange the times of each run at random among the mappings: a ranking without any effect of
    /// the mapping, to compare with.
    #[arg(long, conflicts_with_all = ["shard", "spread", "resume", "counters"])]
    pub shuffled: bool,
    /// Write the PMU counts of the first run of the best and the worst mapping; only for models.
    #[arg(long, value_name = "FILE")]
    pub counters: Option<PathBuf>,
}

/// The outputs of a ranking.
#[derive(Debug, Args)]
pub struct RankResults {
    /// Write the ranking to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the mappings and their times as a table.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the times by rank.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write one self-contained page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the ranking as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// The worker of thread i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VariantChoice {
    /// A random worker for each run.
    Default,
    /// Worker i.
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
