//! Errors of placements.

use seatmap_data::statistics::words::counted;

/// A failed placement, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The machine's profile has no distances.
    #[error("{0} has no core distances; measure them, or import a file with distances")]
    NoDistances(String),
    /// The machine has no such PU, or no distances for it.
    #[error("the machine has no distances for PU {0}")]
    NoSuchPu(u32),
    /// The topology does not have this level.
    #[error("the topology does not say which PUs share one {0}")]
    UnknownLevel(&'static str),
    /// Fewer groups than tasks.
    #[error(
        "{tasks} do not fit on {groups} of PUs, one per group",
        groups = counted(*.groups, "group"),
        tasks = counted(*.tasks, "task")
    )]
    TooFewGroups {
        /// Number of tasks.
        tasks: usize,
        /// Number of groups.
        groups: usize,
    },
    /// A task is fixed twice.
    #[error("task {0} is fixed twice")]
    FixedTwice(usize),
    /// The machine has no links for this objective.
    #[error("{0} has no groups of PUs with a shared link; use --objective distance")]
    NoLinks(String),
    /// This objective needs a machine that runs the program.
    #[error("this objective needs a machine that runs the program")]
    NeedsRuns,
    /// `GetCore` chooses by homes; runs cannot judge it.
    #[error("GetCore chooses by homes alone, and runs cannot judge it; use another method")]
    GetCoreByRuns,
    /// The machine's error when running the program.
    #[error("{0}")]
    Run(String),
    /// The constraints allow no placement.
    #[error("the constraints allow no placement")]
    NothingAllowed,
    /// All PUs are on one chip.
    #[error("a partition needs at least two chips, but all these PUs are on one")]
    OneChip,
    /// Sections with several tasks on a PU.
    #[error("sections need a PU for each task")]
    SharedSections,
    /// The sizes of caches are unknown.
    #[error("the L3 cache sizes of {0} are unknown; leave --prefer big-cache out")]
    NoCacheSizes(String),
    /// The work of a task is unknown.
    #[error(
        "the time of a load of 1 on the fastest CPU is unknown; give it in nanoseconds \
         (--load-ns 5000; 0 counts messages alone)"
    )]
    NoLoadTime,
    /// The method knows distances, but not times.
    #[error("this method chooses by distances alone; --objective time needs --method auto")]
    TimeByDistance,
    /// The cost of a wakeup is unknown.
    #[error(
        "--waiting needs the cost of wakeups, and {0} has none; \
         measure it with 'seatmap measure' on that computer"
    )]
    NoWakeups(String),
    /// The request does not fit the machine, the pattern, or the running program.
    #[error("{0}")]
    Unfit(String),
}
