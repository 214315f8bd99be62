//! The events that a race tells of while it goes on.

use crate::tune::program_race::ProgramRaceError;
use crate::tune::session::TooLong;
use seatmap_os::holder::Holder;

/// Something that a race tells while it goes on.
#[derive(Debug)]
pub enum RaceEvent<'a> {
    /// A run has ended, and is to be kept.
    RunMade {
        /// Runs so far.
        runs: usize,
        /// Runs until the end, as far as that is known.
        of: usize,
    },
    /// Candidates were left out, because the fewest runs of a race with all of them do not fit.
    CandidatesLeftOut {
        /// Those that race.
        racing: usize,
        /// All.
        all: usize,
        /// The time of a run of the default, in seconds.
        run_s: f64,
        /// The time that the race may take, in seconds.
        limit_s: f64,
    },
    /// The shortest race takes longer than it may.
    TooLong(TooLong),
    /// The runs took longer than they were allowed.
    TookLonger {
        /// The time that they took, in seconds.
        taken_s: f64,
        /// The time that they were allowed, in seconds.
        limit_s: f64,
    },
    /// A run is void, and is made again: these CPUs were taken from it.
    CpusTaken {
        /// The CPUs, as a list.
        cpus: &'a str,
        /// The cell that had them, if one had.
        holder: &'a Holder,
    },
    /// A run is void, and is made again: others used so much of its CPUs meanwhile, or a hypervisor
    /// or a quota took it.
    Disturbed {
        /// The largest of the three shares, in percent of the CPUs' time.
        percent: f64,
        /// The runs of the race that were made again for that so far, this one included.
        runs: usize,
    },
    /// A run failed, and is made again: the race's CPUs were not all this process's for a moment.
    CpusetShrunk,
    /// A start of a job failed, and is made again.
    StartFailed {
        /// Why.
        error: &'a ProgramRaceError,
    },
    /// The start of a job that was observed failed, and is made again.
    ObservedStartFailed {
        /// Why.
        error: &'a ProgramRaceError,
    },
    /// The race ends with a failure, and these runs are kept for another one.
    RunsKept {
        /// How many.
        runs: usize,
    },
    /// The last run could not be kept, as those before it were.
    RunLost {
        /// Runs that were kept.
        before: usize,
    },
}
