//! The request for a race of ways to seat a program.

use crate::tune::counts::CountAxis;
use crate::tune::metric::{Better, Metric};
use crate::tune::tuned::Tuned;
use crate::tune::winner::Provenance;
use seatmap_data::machine::Profile;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Objective;
use seatmap_os::CpuList;
use seatmap_os::guardian::GuardianCommand;
use seatmap_os::switches::Switch;
use seatmap_place::ranks::{ClusterNodes, RankPlan, RankWishes};
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A race of ways to seat a program.
pub struct RaceRequest {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The computer or cluster.
    pub ground: RaceGround,
    /// The metric.
    pub metric: Metric,
    /// Whether lower or higher readings are better.
    pub better: Better,
    /// A second metric for the numbers of threads, and which readings are better.
    pub second: Option<(Metric, Better)>,
    /// The confidence of all tests and intervals, 0 to 1.
    pub confidence: f64,
    /// The seed of all random orders.
    pub seed: u64,
    /// The most candidates, including the default.
    pub candidates: usize,
    /// The most runs; by default 10 of each candidate and the confirmation.
    pub runs: Option<usize>,
    /// The time for all runs, instead of their number.
    pub time: Option<Duration>,
    /// The file of the race, rewritten after every run.
    pub record: PathBuf,
    /// That race, to resume it with its candidates.
    pub earlier: Option<Tuned>,
    /// The origin recorded in a plan of the winner.
    pub provenance: Provenance,
    /// Returns the current time (RFC 3339).
    pub now: fn() -> String,
    /// The command lines of this program.
    pub own: OwnCommands,
}

/// The place of a race.
pub enum RaceGround {
    /// This computer.
    Host(HostGround),
    /// The nodes of a cluster.
    Cluster(Box<ClusterGround>),
}

/// A race on this computer.
#[derive(Default)]
pub struct HostGround {
    /// The CPUs for the program; by default all that this process may use.
    pub cpus: Option<CpuList>,
    /// The program's messages. If unknown, orders and groups of CPUs race.
    pub traffic: Option<Box<ProgramTraffic>>,
    /// The numbers of threads that also race.
    pub counts: Option<CountAxis>,
    /// Other settings that also race.
    pub vary: Vec<RaceDimension>,
}

/// A setting besides the seats, whose values race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RaceDimension {
    /// A kernel switch.
    Switch(Switch),
    /// The NUMA nodes of the program's memory.
    Memory,
    /// Whether threads of OpenMP spin or sleep while they wait.
    WaitPolicy,
}

/// The messages in a program, and the ranking of placements.
pub struct ProgramTraffic {
    /// The pattern; `None`: observe one run.
    pub pattern: Option<Pattern>,
    /// The distances of this computer.
    pub profile: Profile,
    /// The objective; `None`: the usual one for the pattern.
    pub objective: Option<Objective>,
}

/// A cluster's nodes for a pattern's ranks, whose messages decide which distances count.
pub type NodesFor = Box<dyn Fn(&Pattern) -> Result<ClusterNodes, Box<dyn Error>>>;

/// Formats the hosts of a plan for a launcher.
pub type HostsWriter = fn(&RankPlan) -> String;

/// A race on a cluster.
pub struct ClusterGround {
    /// The pattern of the ranks; `None`: observe one start.
    pub pattern: Option<Pattern>,
    /// The nodes.
    pub nodes: NodesFor,
    /// The user's constraints on ranks.
    pub wishes: RankWishes,
    /// Formats the hosts file for the launcher.
    pub hosts: HostsWriter,
    /// The path of this program on the nodes.
    pub program: PathBuf,
}

/// Command lines of this program.
#[derive(Clone, Copy, Debug)]
pub struct OwnCommands {
    /// The prefix that runs a command on seats, given by these options.
    pub on_seats: fn(&[&str]) -> Vec<OsString>,
    /// Starts the guardian of kernel switches, by [`varied::serve`](crate::tune::varied::serve).
    pub switch_guardian: fn() -> GuardianCommand,
    /// The prefix that seats a rank; arguments: this program's path and the plan.
    pub rank_on_seats: fn(&Path, &Path) -> Vec<OsString>,
    /// The prefix that observes a rank; arguments: this program's path and the message file.
    pub rank_observed: fn(&Path, &Path) -> Vec<OsString>,
}
