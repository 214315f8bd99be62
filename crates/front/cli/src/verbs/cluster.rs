//! `seatmap cluster`.

use crate::myself;
use clap::{Args, Subcommand};
use seatmap_cluster::measure::{self, Own};
use seatmap_cluster::node_profile::measured_by;
use seatmap_cluster::{
    Cluster as Measured, ClusterOptions, ClusterProgress, NodeConfiguration, Rank, judge, mpi,
};
use seatmap_console::error::with_causes;
use seatmap_console::values::duration;
use seatmap_console::{Bars, CliError, CliResult, Destination, here, input, meet, output};
use seatmap_data::machine::Profile;
use seatmap_report::{cluster, counted};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Args)]
pub struct ClusterArgs {
    #[command(subcommand)]
    pub command: ClusterCommand,
}

#[derive(Subcommand)]
pub enum ClusterCommand {
    /// Measure the distances between nodes; srun or mpirun starts it on each node.
    Measure(ClusterMeasure),
    /// Find the faulty node or cable in a measurement.
    Doctor(ClusterDoctor),
}

#[derive(Args)]
pub struct ClusterMeasure {
    /// The ranks' meeting point: a file on a shared file system, or HOST:PORT of rank 0. Default:
    /// MASTER_ADDR and MASTER_PORT if set, else a file in this folder.
    #[arg(long, value_name = "PLACE")]
    meet: Option<String>,
    /// A file with the ranks' shared secret, readable by its owner alone; or set SEATMAP_SECRET. A
    /// meeting file has its own.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Measure every pair, instead of at most four per node.
    #[arg(long)]
    all: bool,
    /// Also measure rates while many nodes send at once: to a partner in the other half, to the
    /// next node, all to one.
    #[arg(long)]
    loaded: bool,
    /// Also measure through the site's MPI, by a small program that each rank compiles on its node.
    /// Requires an MPI launcher.
    #[arg(long)]
    mpi: bool,
    /// The compiler for --mpi, with its options. Default: the environment's MPICC, or mpicc.
    #[arg(long, value_name = "COMMAND", requires = "mpi", hide_short_help = true)]
    mpicc: Option<String>,
    /// Also measure each node's cores, as 'seatmap measure --quick' does.
    #[arg(long)]
    nodes: bool,
    /// Count every rank as a node, even if several run on one.
    #[arg(long, hide_short_help = true)]
    each_rank: bool,
    /// The time for the round trips of one size of one pair.
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = duration)]
    trips: Duration,
    /// Pairs measured at a time. Pairs that share a link disturb each other.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    at_once: u16,
    /// How long to wait for a rank, and for a pair.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    timeout: Duration,
    /// Continue this earlier result: measure only what is missing.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write the cluster to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print only the cluster as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct ClusterDoctor {
    /// The file that 'seatmap cluster measure -o' wrote; - is stdin.
    #[arg(value_name = "FILE")]
    cluster: PathBuf,
    /// Exit with 1 if something is wrong.
    #[arg(long)]
    fail: bool,
    /// Print only the findings as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

pub fn run(typed: &ClusterArgs) -> CliResult {
    match &typed.command {
        ClusterCommand::Measure(typed) => measure(typed),
        ClusterCommand::Doctor(typed) => doctor(typed),
    }
}

pub fn show(cluster: &Measured, json: bool) -> CliResult {
    if json { output::json(cluster) } else { output::show(&cluster::page(cluster)) }
}

fn cluster_in(path: &Path) -> CliResult<Measured> {
    input::document(path, Measured::from_json)
}

/// Exit code 1 if something could not be measured.
fn measure(typed: &ClusterMeasure) -> CliResult {
    let rank = meet::rank()?;
    // Only rank 0 writes.
    let output = typed.output.as_deref().filter(|_| rank.rank == 0);
    let file = output::beside(output, None, "-o")?;
    let options = options(typed, &rank)?;
    let timeout = typed.timeout;
    let own = Own {
        name: here::host_name(),
        facts: NodeConfiguration::read(),
        profile: typed.nodes.then(|| Box::new(move || profile(timeout)) as _),
    };
    let mut bars = Bars::default();
    let mut tell = |progress| match progress {
        ClusterProgress::Done(things, done, of) => bars.show(things, done, of),
        ClusterProgress::Again { pairs, at_most } => {
            bars.clear();
            // It takes as long as all pairs did.
            output::tell(&cluster::again(pairs, at_most));
        }
    };
    // A failure is reported when the complete result is written.
    let mut keep = |so_far: &Measured| {
        if let Some(file) = file.as_ref().filter(|file| **file != Destination::Stdout) {
            let _ = file.write(&so_far.to_json());
        }
    };
    let measured = measure::run(&rank, own, &options, &mut tell, &mut keep)?;
    drop(bars);
    let Some(measured) = measured else { return Ok(()) };
    file.map_or(Ok(()), |file| file.write(&measured.to_json()))?;
    show(&measured, typed.json)?;
    cluster::missing(&measured).map_or(Ok(()), |missing| Err(CliError::work(missing)))
}

/// The part of this rank in the measurement.
fn options(typed: &ClusterMeasure, rank: &Rank) -> CliResult<ClusterOptions> {
    Ok(ClusterOptions {
        meeting: meet::place(typed.meet.as_deref(), rank),
        secret: meet::secret(typed.secret_file.as_deref())?,
        all: typed.all,
        each_rank: typed.each_rank,
        loaded: typed.loaded,
        mpicc: typed.mpi.then(|| mpi::compiler(typed.mpicc.as_deref())),
        trips: typed.trips,
        at_once: usize::from(typed.at_once),
        timeout: typed.timeout,
        earlier: match &typed.resume {
            Some(path) if rank.rank == 0 => Some(cluster_in(path)?),
            _ => None,
        },
        date: Some(here::today()),
    })
}

/// By `seatmap measure`, which waits until no other process measures here.
fn profile(timeout: Duration) -> Option<Profile> {
    match measured_by(&mut myself::quick_measurement(), timeout) {
        Ok((profile, words)) => {
            output::tell_text(&words);
            profile
        }
        Err(error) => {
            output::tell(&with_causes(&error));
            None
        }
    }
}

fn doctor(typed: &ClusterDoctor) -> CliResult {
    let cluster = cluster_in(&typed.cluster)?;
    let diagnosis = judge::ClusterFaults::of(&cluster);
    output::even_unread(if typed.json {
        output::json(&diagnosis)
    } else {
        output::print(&cluster::verdict(&cluster, &diagnosis.faults))
    })?;
    match diagnosis.faults.len() {
        faults if typed.fail && faults > 0 => {
            Err(CliError::work(format!("{} found", counted(faults, "fault"))))
        }
        _ => Ok(()),
    }
}
