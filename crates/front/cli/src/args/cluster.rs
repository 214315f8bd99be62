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
    /// Measure the distances between nodes; srun or mpirun starts it on each node.
    Measure(ClusterMeasure),
    /// Find the faulty node or cable in a measurement.
    Doctor(ClusterDoctor),
}

#[derive(Debug, Args)]
pub struct ClusterMeasure {
    /// The ranks' meeting point: a file on a shared file system, or HOST:PORT of rank 0. Default:
    /// MASTER_ADDR and MASTER_PORT if set, else a file in this folder.
    #[arg(long, value_name = "PLACE")]
    pub meet: Option<String>,
    /// A file with the ranks' shared secret, readable by its owner alone; or set SEATMAP_SECRET. A
    /// meeting file has its own.
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// Measure every pair, instead of at most four per node.
    #[arg(long)]
    pub all: bool,
    /// Also measure rates while many nodes send at once: to a partner in the other half, to the
    /// next node, all to one.
    #[arg(long)]
    pub loaded: bool,
    /// Also measure through the site's MPI, by a small program that each rank compiles on its node.
    /// Requires an MPI launcher.
    #[arg(long)]
    pub mpi: bool,
    /// The compiler for --mpi, with its options. Default: the environment's MPICC, or mpicc.
    #[arg(long, value_name = "COMMAND", requires = "mpi", hide_short_help = true)]
    pub mpicc: Option<String>,
    /// Also measure each node's cores, as 'seatmap measure --quick' does.
    #[arg(long)]
    pub nodes: bool,
    /// Count every rank as a node, even if several run on one.
    #[arg(long, hide_short_help = true)]
    pub each_rank: bool,
    /// The time for the round trips of one size of one pair.
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = duration)]
    pub trips: Duration,
    /// Pairs measured at a time. Pairs that share a link disturb each other.
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
    /// Continue this earlier result: measure only what is missing.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Write the cluster to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print only the cluster as JSON, on stdout.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ClusterDoctor {
    /// The file that 'seatmap cluster measure -o' wrote; - is stdin.
    #[arg(value_name = "FILE")]
    pub cluster: PathBuf,
    /// Exit with 1 if something is wrong.
    #[arg(long)]
    pub fail: bool,
    /// Print only the findings as JSON, on stdout.
    #[arg(long)]
    pub json: bool,
}
