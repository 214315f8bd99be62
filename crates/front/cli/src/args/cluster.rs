//! `seatmap cluster`, as typed.

use clap::{Args, Subcommand};
use seatmap_console::values::duration;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct ClusterArgs {
    #[command(subcommand)]
    pub command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Measure how far apart the nodes are, as a program that srun or mpirun starts on each of
    /// them.
    Measure(ClusterMeasure),
    /// Name the bad node or cable in what was measured.
    Doctor(ClusterDoctor),
}

#[derive(Debug, Args)]
pub struct ClusterMeasure {
    /// Where the ranks meet: a file that all nodes see, or HOST:PORT of rank 0. By default a file
    /// in this folder, or MASTER_ADDR and MASTER_PORT where they are set.
    #[arg(long, value_name = "PLACE")]
    pub meet: Option<String>,
    /// A file with the secret that the ranks share, readable by its owner alone; or set
    /// SEATMAP_SECRET. A meeting file brings its own.
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// Measure every pair, and not at most four a node.
    #[arg(long)]
    pub all: bool,
    /// Measure rates while many nodes send at once as well: each with one of the other half, each
    /// to the next, all to one.
    #[arg(long)]
    pub loaded: bool,
    /// Measure through the site's MPI as well, by a small program that each rank builds with its
    /// node's compiler. Needs a launcher of MPI.
    #[arg(long)]
    pub mpi: bool,
    /// The compiler for --mpi, with its options if any; by default MPICC of the environment, or
    /// mpicc.
    #[arg(long, value_name = "COMMAND", requires = "mpi", hide_short_help = true)]
    pub mpicc: Option<String>,
    /// Let each node measure its cores as well, as 'seatmap measure --quick' does.
    #[arg(long)]
    pub nodes: bool,
    /// Count every rank as a node, also those that run on one.
    #[arg(long, hide_short_help = true)]
    pub each_rank: bool,
    /// The time for the round trips of one size of one pair.
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = duration)]
    pub trips: Duration,
    /// Pairs that are measured at a time. Pairs that share a link disturb each other.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub at_once: u16,
    /// How long to wait for a rank, and for a pair.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub timeout: Duration,
    /// Go on from this earlier result: measure only what it lacks.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Write the cluster to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the cluster as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ClusterDoctor {
    /// The file that 'seatmap cluster measure -o' wrote; - is stdin.
    #[arg(value_name = "FILE")]
    pub cluster: PathBuf,
    /// Exit with code 1 if something is wrong.
    #[arg(long)]
    pub fail: bool,
    /// Print the findings as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}
