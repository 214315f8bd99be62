//! Why there is no advice.

use seatmap_data::document::Blame;
use seatmap_observe::ObserveError;
use seatmap_place::PlaceError;
use seatmap_watch::ChoiceError;
use std::io;

/// Why there is no advice. Nothing is changed then, and a command that was started runs on.
#[derive(Debug, thiserror::Error)]
pub enum AdviseError {
    /// There is no such program.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The command could not be started, or the observation broke off.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// The distances do not fit the CPUs.
    #[error("no seats can be sought")]
    Place(#[from] PlaceError),
    /// The metric cannot be read here: a sentence.
    #[error("{0}")]
    Metric(String),
    /// A file of the kernel cannot be read, or no process can be started.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The user ended it.
    #[error("interrupted: the program has the CPUs that it had before")]
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
