//! Why a placement was refused.

use seatmap_data::machine::CoreKind;
use seatmap_data::machine::nanoseconds::MAX_ROUND_TRIP_NS;
use seatmap_data::statistics::words::counted;

/// The reason why a placement was refused, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The machine's profile has no distances.
    #[error("{0} has no core distances; measure it, or import a file that has them")]
    NoDistances(String),
    /// A pair of PUs whose distance is not known.
    #[error(
        "the distance between PUs {0} and {1} is not known; leave one of them out of the CPUs to \
         use"
    )]
    UnknownDistance(u32, u32),
    /// A distance that no machine has.
    #[error(
        "PUs {} and {} are {ns} ns apart; a distance is 0 to {MAX_ROUND_TRIP_NS:e} ns",
        pus[0], pus[1]
    )]
    NoDistance {
        /// The two PUs.
        pus: [u32; 2],
        /// The text in the profile.
        ns: String,
    },
    /// More than the searches can hold.
    #[error(
        "{tasks} on {pus}: more than {most} are beyond this search; gather tasks first",
        most = counted(*.most, "place"),
        pus = counted(*.pus, "PU"),
        tasks = counted(*.tasks, "task")
    )]
    TooMany {
        /// Tasks.
        tasks: usize,
        /// PUs.
        pus: usize,
        /// The most places.
        most: usize,
    },
    /// A PU that the machine does not have, or of which it knows no distance.
    #[error("the machine knows no distances of PU {0}")]
    NoSuchPu(u32),
    /// A level that the topology does not tell.
    #[error("the topology does not say which PUs share one {0}")]
    UnknownLevel(&'static str),
    /// Fewer groups than tasks.
    #[error(
        "{tasks} do not fit on {groups} of PUs, one on each",
        groups = counted(*.groups, "group"),
        tasks = counted(*.tasks, "task")
    )]
    TooFewGroups {
        /// Tasks.
        tasks: usize,
        /// Groups.
        groups: usize,
    },
    /// A task that the pattern does not have.
    #[error("task {} is fixed, and the pattern has {}, counted from 0", .0, counted(*.1, "task"))]
    NoSuchTask(usize, usize),
    /// More tasks fixed on a PU than it can take.
    #[error(
        "more tasks are fixed on PU {os} than may sit there: the {} have {}, so that each PU takes \
         at most {}; fix them on different PUs, or name fewer CPUs than tasks (--cpus), which then \
         share them; tasks that sleep may share a CPU by --objective time --waiting",
        counted(*.tasks, "task"), counted(*.pus, "PU"), counted(*.most, "task")
    )]
    Crowded {
        /// The PU, by OS index.
        os: u32,
        /// Tasks of the pattern.
        tasks: usize,
        /// PUs that they may sit on.
        pus: usize,
        /// The most tasks on one PU.
        most: usize,
    },
    /// Tasks fixed on two PUs of a group that takes one task.
    #[error(
        "tasks are fixed on PUs {} and {}, which share a {group}, and each takes one task \
         (--avoid-smt, --one-per)", .pus[0], .pus[1]
    )]
    SharedGroup {
        /// The PUs, by OS index.
        pus: [u32; 2],
        /// The kind of group.
        group: &'static str,
    },
    /// A task that is fixed twice.
    #[error("task {0} is fixed twice")]
    FixedTwice(usize),
    /// The objective is the load of links, and the machine has none.
    #[error("{0} has no groups of PUs that share a link; use distance")]
    NoLinks(String),
    /// The objective is the time of a run, and nothing runs here.
    #[error("this objective needs a machine that runs the program")]
    NeedsRuns,
    /// Runs were to judge a method that knows homes alone.
    #[error("GetCore chooses by homes alone; runs judge the other methods")]
    GetCoreByRuns,
    /// Fewer PUs than tasks, where a run judges.
    #[error(
        "{tasks} on {pus}: a run needs a PU for each task",
        pus = counted(*.pus, "PU"),
        tasks = counted(*.tasks, "task")
    )]
    TooFewForRuns {
        /// Tasks.
        tasks: usize,
        /// PUs.
        pus: usize,
    },
    /// The program could not be run under a placement; the text is the machine's own.
    #[error("{0}")]
    Run(String),
    /// The constraints leave no placement.
    #[error("no placement is allowed")]
    NothingAllowed,
    /// A partition on one chip.
    #[error("a partition needs two chips or more, and all these PUs are on one")]
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
        /// Cores.
        cores: usize,
        /// The numbers of sections that divide them, as a list.
        fitting: String,
    },
    /// Sections with several tasks on a PU.
    #[error("sections need a PU for each task")]
    SharedSections,
    /// No home to choose for a line.
    #[error(
        "the profile of {machine} tells no homes of lines apart, \
         so that there are none to choose from; place without homes{}",
        if *.is_measurable { ", or look for homes with 'seatmap measure --homes 64'" } else { "" }
    )]
    NoHomes {
        /// The machine.
        machine: String,
        /// Whether a measurement could find homes.
        is_measurable: bool,
    },
    /// No PU of a kind.
    #[error(
        "--kind {}: {} on {machine}; leave --kind out",
        .kind.word(),
        why_none(*.is_hybrid)
    )]
    NoneOfKind {
        /// The kind.
        kind: CoreKind,
        /// The machine.
        machine: String,
        /// Whether the machine tells kinds.
        is_hybrid: bool,
    },
    /// Too few PUs of one kind and speed.
    #[error(
        "{tasks} do not fit on equal seats: of the CPUs of {machine} that may be used, {most} at \
         the most {are} equal; use fewer tasks, or leave --equal-kind out",
        tasks = counted(*.tasks, "task"),
        are = if *.most == 1 { "is" } else { "are" }
    )]
    TooFewEqual {
        /// Tasks.
        tasks: usize,
        /// The machine.
        machine: String,
        /// The most equal CPUs.
        most: usize,
    },
    /// A task that is fixed outside of the kind of PUs that may be used.
    #[error("task {task} is fixed on CPU {os}, which is not {}", of_kind(*.kind))]
    FixedOutside {
        /// The task.
        task: usize,
        /// The PU.
        os: u32,
        /// The kind that was asked for; `None` where equal PUs were.
        kind: Option<CoreKind>,
    },
    /// Big caches are preferred, and the sizes of caches are not known.
    #[error("{0} does not say how large its L3 caches are; leave --prefer big-cache out")]
    NoCacheSizes(String),
    /// A time is the objective, and the work of a task is not known.
    #[error(
        "a time adds up work and messages, and it is not known how long a load of 1 takes on the \
         fastest CPU; give its nanoseconds (--load-ns 5000; 0 counts messages alone)"
    )]
    NoLoadTime,
    /// A method that knows no times.
    #[error("this method chooses by distances alone; a time needs --method auto")]
    TimeByDistance,
    /// Tasks sleep, and the cost of waking them is not known.
    #[error(
        "--waiting needs the cost of wakeups, and {0} has none; \
         'seatmap measure' on that computer finds them"
    )]
    NoWakeups(String),
    /// The threads of a running program cannot be seated.
    #[error("{0}")]
    Unfit(String),
}

fn why_none(is_hybrid: bool) -> &'static str {
    if is_hybrid {
        "none of its CPUs here is of that kind"
    } else {
        "its topology tells no kinds of CPUs apart"
    }
}

fn of_kind(kind: Option<CoreKind>) -> String {
    kind.map_or_else(
        || "one of the equal CPUs".to_owned(),
        |kind| format!("a CPU of kind {}", kind.word()),
    )
}
