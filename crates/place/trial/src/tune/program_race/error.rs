//! Why a race has no winner.

use crate::tune::trial::TrialError;
use seatmap_data::document::Blame;
use seatmap_observe::ObserveError;
use seatmap_place::PlaceError;
use seatmap_place::ranks::RanksError;
use std::error::Error;
use std::io;
use std::path::Path;

/// Why a race of a program has no winner.
#[derive(Debug, thiserror::Error)]
pub enum ProgramRaceError {
    /// The kernel does not report its CPUs, or files cannot be written.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The pattern cannot be placed.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The ranks of the job cannot be placed.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The program cannot be observed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// A run gave no reading.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The request cannot be met: another command line or file can.
    #[error(transparent)]
    Input(Box<dyn Error>),
    /// The work failed or was interrupted.
    #[error(transparent)]
    Work(Box<dyn Error>),
}

/// An error at a file.
#[derive(Debug, thiserror::Error)]
#[error("{file}")]
struct AtFile {
    file: String,
    source: Box<dyn Error>,
}

/// This error at a file.
pub(crate) fn at(file: &Path, source: impl Into<Box<dyn Error>>) -> Box<dyn Error> {
    Box::new(AtFile { file: file.display().to_string(), source: source.into() })
}

impl ProgramRaceError {
    pub(crate) fn input(error: impl Into<Box<dyn Error>>) -> Self {
        ProgramRaceError::Input(error.into())
    }

    pub(crate) fn work(error: impl Into<Box<dyn Error>>) -> Self {
        ProgramRaceError::Work(error.into())
    }
}

impl Blame for ProgramRaceError {
    fn is_input(&self) -> bool {
        match self {
            ProgramRaceError::Observe(error) => error.is_input(),
            ProgramRaceError::Place(_)
            | ProgramRaceError::Ranks(_)
            | ProgramRaceError::Input(_) => true,
            ProgramRaceError::System(_)
            | ProgramRaceError::Trial(_)
            | ProgramRaceError::Work(_) => false,
        }
    }
}
