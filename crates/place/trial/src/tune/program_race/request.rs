//! A race as its caller means it: of which program, where, and how long.

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
    /// Where it runs.
    pub ground: RaceGround,
    /// The figure that is read from each run.
    pub metric: Metric,
    /// The better readings.
    pub better: Better,
    /// The confidence of all tests and intervals, 0 to 1.
    pub confidence: f64,
    /// The start of all random orders.
    pub seed: u64,
    /// The most candidates, the default among them.
    pub candidates: usize,
    /// The most runs; ten of each candidate and the confirmation where nothing is said.
    pub runs: Option<usize>,
    /// The time for all runs, which then decides instead of their number.
    pub time: Option<Duration>,
    /// The file with the race, which is written again after every run.
    pub record: PathBuf,
    /// The race of that file, if its runs are to be taken over. Its candidates race.
    pub earlier: Option<Tuned>,
    /// The origin that a plan of the winner names.
    pub provenance: Provenance,
    /// The moment as RFC 3339 has it.
    pub now: fn() -> String,
    /// How this program is started again.
    pub own: OwnCommands,
}

/// Where a program is seated.
pub enum RaceGround {
    /// On this computer.
    Host(HostGround),
    /// On the nodes of a cluster.
    Cluster(Box<ClusterGround>),
}

/// A race on this computer.
pub struct HostGround {
    /// The CPUs to seat the program on; all that this process may use where nothing is said.
    pub cpus: Option<CpuList>,
    /// The traffic in the program. Orders and groups of CPUs race where nobody knows it.
    pub traffic: Option<Box<ProgramTraffic>>,
    /// Switches of the kernel that race as well.
    pub switches: Vec<Switch>,
}

/// The traffic in a program: who talks to whom, and how placements are ranked by it.
pub struct ProgramTraffic {
    /// The pattern; `None` has one run of the program observed.
    pub pattern: Option<Pattern>,
    /// The distances of this computer.
    pub profile: Profile,
    /// The objective by which the model ranks placements; `None` for the usual one of the pattern.
    pub objective: Option<Objective>,
}

/// The nodes of a cluster as places for the ranks of a pattern, whose messages decide which
/// distances count.
pub type NodesFor = Box<dyn Fn(&Pattern) -> Result<ClusterNodes, Box<dyn Error>>>;

/// Writes the file with the hosts of a plan, as a launcher reads it.
pub type HostsWriter = fn(&RankPlan) -> String;

/// A race on a cluster: a run is one start of a job, by its own launcher.
pub struct ClusterGround {
    /// The pattern of the job's ranks; `None` has one start of the job observed.
    pub pattern: Option<Pattern>,
    /// The nodes.
    pub nodes: NodesFor,
    /// The wishes for ranks.
    pub wishes: RankWishes,
    /// Writes the file with the hosts, as the launcher reads it.
    pub hosts: HostsWriter,
    /// The file of this program, as the nodes find it.
    pub program: PathBuf,
}

/// The command lines of this program itself, which knows its own words.
#[derive(Clone, Copy, Debug)]
pub struct OwnCommands {
    /// Stands before a command that is to run on seats; these options say which.
    pub on_seats: fn(&[&str]) -> Vec<OsString>,
    /// Puts the kernel's switches back after the end of this process, by
    /// [`varied::serve`](crate::tune::varied::serve).
    pub switch_guardian: fn() -> GuardianCommand,
    /// Stands before a rank, with this program's file first: the plan has the rank's seat.
    pub rank_on_seats: fn(&Path, &Path) -> Vec<OsString>,
    /// Stands before a rank, with this program's file first: the messages go to the other file.
    pub rank_observed: fn(&Path, &Path) -> Vec<OsString>,
}
