//! The events of a race.

use crate::tune::session::TooLong;
use seatmap_data::document::Failure;
use seatmap_os::holder::Holder;

/// An event of a race.
#[derive(Debug)]
pub enum RaceEvent<'a> {
    /// A run has ended and will be recorded.
    RunMade {
        /// Runs so far.
        runs: usize,
        /// Runs until the end, as far as known.
        of: usize,
    },
    /// Candidates were dropped, because the shortest race with all of them exceeds the limit.
    CandidatesLeftOut {
        /// The number of remaining candidates.
        racing: usize,
        /// The number of all candidates.
        all: usize,
        /// The time of a default run, in seconds.
        run_s: f64,
        /// The time limit of the race, in seconds.
        limit_s: f64,
    },
    /// The shortest race exceeds the limit.
    TooLong(TooLong),
    /// The runs took longer than the limit.
    TookLonger {
        /// Their time, in seconds.
        taken_s: f64,
        /// The limit, in seconds.
        limit_s: f64,
    },
    /// The search for the best number of threads is over, and its result races.
    CountFound {
        /// The setting with this number.
        setting: String,
        /// The different numbers of the runs.
        tried: usize,
        /// The runs.
        runs: usize,
    },
    /// A run is void and will be repeated, because CPUs were taken from it.
    CpusTaken {
        /// The missing CPUs, as a list.
        cpus: &'a str,
        /// The cell that held them, if one did.
        holder: &'a Holder,
    },
    /// A run is void and will be repeated, because too much of its CPU time was taken.
    Disturbed {
        /// The largest of the three shares, in percent of the CPUs' time.
        percent: f64,
        /// The runs repeated for this reason, including this one.
        runs: usize,
    },
    /// A run failed and will be repeated: the race's CPUs were not all available.
    CpusetShrunk,
    /// A start of the job failed and will be repeated.
    StartFailed {
        /// The reason.
        error: &'a Failure,
    },
    /// The observed start of the job failed and will be repeated.
    ObservedStartFailed {
        /// The reason.
        error: &'a Failure,
    },
    /// The race failed, but its runs are kept for another one.
    RunsKept {
        /// The number of kept runs.
        runs: usize,
    },
    /// The last run could not be saved; those before it were.
    RunLost {
        /// The number of saved runs.
        before: usize,
    },
}
