//! Why a placement was refused.

use seatmap_machine::nanoseconds::MAX_ROUND_TRIP_NS;
use seatmap_statistics::words::counted;

/// The reason why a placement was refused, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The machine's profile has no distances.
    #[error("{0} has no core distances; measure it, or import a file that has them")]
    NoDistances(String),
    /// A pair of PUs whose distance is not known.
    #[error(
        "the distance between PUs {0} and {1} is not known; leave one of them out of the CPUs to use"
    )]
    UnknownDistance(u32, u32),
    /// A distance that no machine has.
    #[error(
        "PUs {} and {} are {ns} ns apart; a distance is 0 to {MAX_ROUND_TRIP_NS:e} ns", pus[0], pus[1]
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
    #[error("the topology does not say which PUs share a {0}")]
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
    #[error("more tasks are fixed on PU {0} than may sit there")]
    Crowded(u32),
    /// A task that is fixed twice.
    #[error("task {0} is fixed twice")]
    FixedTwice(usize),
    /// A method that needs groups of one kind.
    #[error("{0}")]
    Unfit(String),
}
