//! Why a race has no winner.

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
    /// The kernel does not report its CPUs, or files cannot be written.
    #[error(transparent)]
    System(#[from] io::Error),
    /// This computer's topology cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A requested CPU is not available.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// There is only one CPU.
    #[error("nothing to tune: there is only one CPU")]
    OneCpu,
    /// The pattern cannot be placed.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The program cannot be observed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// The observed run had no messages.
    #[error(
        "no messages between threads were observed, so all placements are estimated as equal; \
         leave --observe out to race orders and groups of CPUs"
    )]
    Silent,
    /// A kernel switch cannot be set.
    #[error(transparent)]
    Varied(#[from] VariedError),
    /// A candidate of an earlier race needs a switch that was not given.
    #[error("a candidate changes a kernel setting; add --vary {0}")]
    NotVaried(String),
    /// The cluster's nodes cannot hold the ranks of the job.
    #[error(transparent)]
    Nodes(Box<dyn Error>),
    /// The ranks of the job cannot be placed.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The job has only one order.
    #[error("nothing to tune: these ranks have only one order")]
    OneOrder,
    /// The earlier race had another number of ranks.
    #[error("the race was for {}, but the pattern has {pattern}", counted(*.race, "rank"))]
    OtherRanks {
        /// Ranks of the race.
        race: usize,
        /// Ranks of the pattern.
        pattern: usize,
    },
    /// The earlier race used a node that is not in the cluster.
    #[error("the race used node {0}, but the cluster does not have it")]
    NoSuchNode(String),
    /// The folder for the files of the job cannot be created.
    #[error("{folder}")]
    Folder {
        /// Its parent folder.
        folder: String,
        /// The system's error.
        source: io::Error,
    },
    /// The ranks' pattern file cannot be read.
    #[error("{file}")]
    Unread {
        /// The file.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// The ranks' pattern file is invalid.
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
        /// The system's error.
        source: io::Error,
    },
    /// A run gave no reading.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// A start of the job hung and was ended.
    #[error("'{command}' was still running after {limit:?} and was stopped")]
    Late {
        /// The command.
        command: String,
        /// Its time limit.
        limit: Duration,
    },
    /// The budget is too small.
    #[error(
        "a race of {} needs at least {}; {}",
        counted(*.candidates, "candidate"),
        counted(*.fewest, "run"),
        way_out(*.enough_for)
    )]
    TooFewRuns {
        /// The number of candidates.
        candidates: usize,
        /// The fewest runs that they need.
        fewest: usize,
        /// The number of candidates for which the budget is enough, if any.
        enough_for: Option<usize>,
    },
    /// The record is of another race.
    #[error("{record}: belongs to another race ({difference}); leave --resume out to start anew")]
    OtherRace {
        /// The file.
        record: String,
        /// The first difference between the two.
        difference: String,
    },
    /// The user stopped it before the first run.
    #[error("interrupted before the first run of the race")]
    StoppedEarly,
    /// The user stopped it during the observed start of the job.
    #[error("interrupted while observing the job")]
    StoppedObserving,
    /// The user stopped it.
    #[error(
        "the race was interrupted after {}; continue it with --resume",
        counted(*.runs, "run")
    )]
    Stopped {
        /// The number of finished runs.
        runs: usize,
    },
}

impl ProgramRaceError {
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

fn way_out(enough_for: Option<usize>) -> String {
    match enough_for {
        Some(candidates) => format!("raise --budget, or add --candidates {candidates}"),
        None => "raise --budget".to_owned(),
    }
}
