//! Errors of placements.

use seatmap_data::machine::CoreKind;
use seatmap_data::machine::nanoseconds::MAX_ROUND_TRIP_NS;
use seatmap_data::statistics::words::counted;

/// A failed placement, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The machine's profile has no distances.
    #[error("{0} has no core distances; measure them, or import a file with distances")]
    NoDistances(String),
    /// The distance between two PUs is unknown.
    #[error("the distance between PUs {0} and {1} is unknown; use at most one of them")]
    UnknownDistance(u32, u32),
    /// A distance outside the valid range.
    #[error(
        "PUs {} and {} are {ns} ns apart; a distance must be 0 to {MAX_ROUND_TRIP_NS:e} ns",
        pus[0], pus[1]
    )]
    NoDistance {
        /// The two PUs.
        pus: [u32; 2],
        /// The text in the profile.
        ns: String,
    },
    /// More slots than the searches can handle.
    #[error(
        "{tasks} on {pus}: this search handles at most {most}; gather tasks first",
        most = counted(*.most, "place"),
        pus = counted(*.pus, "PU"),
        tasks = counted(*.tasks, "task")
    )]
    TooMany {
        /// Number of tasks.
        tasks: usize,
        /// Number of PUs.
        pus: usize,
        /// The largest number of slots.
        most: usize,
    },
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
    /// The pattern has no such task.
    #[error("task {} is fixed, but the pattern has {}, counted from 0", .0, counted(*.1, "task"))]
    NoSuchTask(usize, usize),
    /// More tasks are fixed on a PU than it can take.
    #[error(
        "too many tasks are fixed on PU {os}: with {} on {}, each PU takes at most {}; fix them on \
         different PUs, or allow fewer CPUs than tasks (--cpus), so that tasks share them; \
         sleeping tasks may share a CPU with --objective time --waiting",
        counted(*.tasks, "task"), counted(*.pus, "PU"), counted(*.most, "task")
    )]
    Crowded {
        /// The PU, by OS index.
        os: u32,
        /// Number of tasks in the pattern.
        tasks: usize,
        /// Number of usable PUs.
        pus: usize,
        /// The most tasks on one PU.
        most: usize,
    },
    /// Tasks are fixed on two PUs of a group for one task.
    #[error(
        "tasks are fixed on PUs {} and {}, which share one {group}; --avoid-smt and --one-per \
         allow one task per {group}", .pus[0], .pus[1]
    )]
    SharedGroup {
        /// The PUs, by OS index.
        pus: [u32; 2],
        /// The kind of group.
        group: &'static str,
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
    /// Runs need a PU for each task.
    #[error(
        "{tasks} on {pus}: a run needs a PU for each task",
        pus = counted(*.pus, "PU"),
        tasks = counted(*.tasks, "task")
    )]
    TooFewForRuns {
        /// Number of tasks.
        tasks: usize,
        /// Number of PUs.
        pus: usize,
    },
    /// The machine's error when running the program.
    #[error("{0}")]
    Run(String),
    /// The constraints allow no placement.
    #[error("the constraints allow no placement")]
    NothingAllowed,
    /// All PUs are on one chip.
    #[error("a partition needs at least two chips, but all these PUs are on one")]
    OneChip,
    /// Sections of unequal length.
    #[error(
        "{sections} do not divide {cores}; {fitting} do",
        cores = counted(*.cores, "core"),
        sections = counted(*.sections, "section")
    )]
    UnevenSections {
        /// Sections of the ring or mesh.
        sections: usize,
        /// Number of cores.
        cores: usize,
        /// Numbers of sections that divide the cores.
        fitting: String,
    },
    /// Sections with several tasks on a PU.
    #[error("sections need a PU for each task")]
    SharedSections,
    /// The profile distinguishes no homes of lines.
    #[error(
        "the profile of {machine} does not distinguish homes of lines; place without homes{}",
        if *.is_measurable { ", or measure them with 'seatmap measure --homes 64'" } else { "" }
    )]
    NoHomes {
        /// The machine.
        machine: String,
        /// Whether a measurement could find homes.
        is_measurable: bool,
    },
    /// The machine has no such PU.
    #[error(
        "--kind {}: {}; leave --kind out",
        .kind.word(),
        why_none(.machine, *.is_hybrid)
    )]
    NoneOfKind {
        /// The kind.
        kind: CoreKind,
        /// The machine.
        machine: String,
        /// Whether the machine distinguishes kinds.
        is_hybrid: bool,
    },
    /// Too few PUs of one kind and speed.
    #[error(
        "{tasks} do not fit on equal seats: {machine} has at most {most}; use fewer tasks, or \
         leave --equal-kind out",
        tasks = counted(*.tasks, "task"),
        most = counted(*.most, "equal usable CPU")
    )]
    TooFewEqual {
        /// Number of tasks.
        tasks: usize,
        /// The machine.
        machine: String,
        /// The most equal CPUs.
        most: usize,
    },
    /// A task is fixed on a PU of another kind.
    #[error("task {task} is fixed on CPU {os}, which is not {}", of_kind(*.kind))]
    FixedOutside {
        /// The task.
        task: usize,
        /// The PU.
        os: u32,
        /// The requested kind; `None` for equal PUs.
        kind: Option<CoreKind>,
    },
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
    /// Threads of a running program cannot be seated.
    #[error("{0}")]
    Unfit(String),
}

fn why_none(machine: &str, is_hybrid: bool) -> String {
    if is_hybrid {
        format!("{machine} has no usable CPU of that kind")
    } else {
        format!("the topology of {machine} does not distinguish kinds of CPUs")
    }
}

fn of_kind(kind: Option<CoreKind>) -> String {
    kind.map_or_else(
        || "one of the equal CPUs".to_owned(),
        |kind| format!("a CPU of kind {}", kind.word()),
    )
}
