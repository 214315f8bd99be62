//! Why a race of a program has no winner.

use crate::tune::trial::TrialError;
use crate::tune::varied::VariedError;
use seatmap_data::document::Blame;
use seatmap_data::pattern::import::PatternImportError;
use seatmap_data::statistics::words::counted;
use seatmap_machines::host::topology::TopologyError;
use seatmap_observe::ObserveError;
use seatmap_os::cpus::CpuError;
use seatmap_place::PlaceError;
use seatmap_place::ranks::RanksError;
use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Why a race of a program has no winner.
#[derive(Debug, thiserror::Error)]
pub enum ProgramRaceError {
    /// The kernel does not say which CPUs there are, or takes no files.
    #[error(transparent)]
    System(#[from] io::Error),
    /// This computer's topology cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A CPU that was named is not available.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// Nothing can be chosen on one CPU.
    #[error("there is one CPU, and nothing to choose")]
    OneCpu,
    /// A pattern cannot be placed.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The program cannot be observed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// A run that was observed showed no messages.
    #[error(
        "no thread was seen to talk to another, so that no placement is better than another by the \
         model; leave --observe out to race orders and groups of CPUs"
    )]
    Silent,
    /// A switch of the kernel cannot be turned.
    #[error(transparent)]
    Varied(#[from] VariedError),
    /// A candidate of an earlier race needs a switch, which was not named.
    #[error("a candidate turns a switch of the kernel; add --vary {0}")]
    NotVaried(String),
    /// The cluster's nodes cannot take the ranks of a job.
    #[error(transparent)]
    Nodes(Box<dyn Error>),
    /// The ranks of a job cannot be placed.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// A job has only one order.
    #[error("there is one order of these ranks, and nothing to choose")]
    OneOrder,
    /// An earlier race was for another number of ranks.
    #[error("the race was for {}, and the pattern has {pattern}", counted(*.race, "rank"))]
    OtherRanks {
        /// Ranks of the race.
        race: usize,
        /// Ranks of the pattern.
        pattern: usize,
    },
    /// An earlier race used a node that is not there.
    #[error("the race used {0}, which is not in the cluster")]
    NoSuchNode(String),
    /// The folder for the files of a job cannot be made.
    #[error("{folder}")]
    Folder {
        /// Where.
        folder: String,
        /// Why.
        source: io::Error,
    },
    /// The pattern that the ranks of a job should have written cannot be read.
    #[error("{file}")]
    Unread {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The pattern that the ranks of a job wrote cannot be understood.
    #[error("{file}")]
    Pattern {
        /// The file.
        file: String,
        /// The mistake in it.
        source: PatternImportError,
    },
    /// A file cannot be written.
    #[error("{file}")]
    Unwritten {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// A run has no reading.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// A start of a job hung, and was ended.
    #[error("'{command}' had not ended after {limit:?}")]
    Late {
        /// The command.
        command: String,
        /// How long it was given.
        limit: Duration,
    },
    /// The budget does not suffice.
    #[error(
        "a race of {} needs at least {}; {}",
        counted(*.candidates, "candidate"),
        counted(*.fewest, "run"),
        way_out(*.enough_for)
    )]
    TooFewRuns {
        /// The candidates.
        candidates: usize,
        /// The runs that they need.
        fewest: usize,
        /// The candidates for which the budget suffices, if it does for any.
        enough_for: Option<usize>,
    },
    /// The record is of another race.
    #[error("{record}: is another race's ({difference}); leave --resume out to begin anew")]
    OtherRace {
        /// The file.
        record: String,
        /// The first thing in which the two differ.
        difference: String,
    },
    /// The caller stopped it before the first run.
    #[error("interrupted before the first run of the race")]
    StoppedEarly,
    /// The caller stopped it while a start of the job was observed.
    #[error("interrupted while the job was observed")]
    StoppedObserving,
    /// The caller stopped it.
    #[error(
        "the race was interrupted; its {} are kept, and --resume goes on with them",
        counted(*.runs, "run")
    )]
    Stopped {
        /// Runs so far.
        runs: usize,
    },
}

impl ProgramRaceError {
    /// A file that cannot be written.
    pub(crate) fn unwritten(file: &Path, source: io::Error) -> Self {
        ProgramRaceError::Unwritten { file: file.display().to_string(), source }
    }
}

impl Blame for ProgramRaceError {
    fn is_input(&self) -> bool {
        match self {
            ProgramRaceError::Observe(error) => error.is_input(),
            error => matches!(
                error,
                ProgramRaceError::Cpu(_)
                    | ProgramRaceError::OneCpu
                    | ProgramRaceError::Place(_)
                    | ProgramRaceError::NotVaried(_)
                    | ProgramRaceError::Nodes(_)
                    | ProgramRaceError::Ranks(_)
                    | ProgramRaceError::OneOrder
                    | ProgramRaceError::OtherRanks { .. }
                    | ProgramRaceError::NoSuchNode(_)
                    | ProgramRaceError::Folder { .. }
                    | ProgramRaceError::Unread { .. }
                    | ProgramRaceError::Pattern { .. }
                    | ProgramRaceError::TooFewRuns { .. }
                    | ProgramRaceError::OtherRace { .. }
            ),
        }
    }
}

/// The remedy for a budget that does not suffice.
fn way_out(enough_for: Option<usize>) -> String {
    match enough_for {
        Some(candidates) => format!("raise --budget, or add --candidates {candidates}"),
        None => "raise --budget".to_owned(),
    }
}
