//! Why there is no advice.

use seatmap_data::document::Blame;
use seatmap_observe::ObserveError;
use seatmap_place::PlaceError;
use seatmap_watch::ChoiceError;
use std::io;

/// Why there is no advice. Nothing is changed, and a started command runs on.
#[derive(Debug, thiserror::Error)]
pub enum AdviseError {
    /// The program does not exist.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The command could not be started, or the observation failed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// The distances do not match the CPUs.
    #[error("cannot compute a placement")]
    Place(#[from] PlaceError),
    /// The metric is unavailable: a sentence.
    #[error("{0}")]
    Metric(String),
    /// A kernel file is unreadable, or a process cannot be started.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The user stopped it.
    #[error("interrupted: the program's CPUs are as before")]
    Interrupted,
}

impl Blame for AdviseError {
    fn is_input(&self) -> bool {
        match self {
            AdviseError::Choice(error) => error.is_input(),
            AdviseError::Observe(error) => error.is_input(),
            AdviseError::Metric(_) => true,
            AdviseError::Place(_) | AdviseError::System(_) | AdviseError::Interrupted => false,
        }
    }
}
