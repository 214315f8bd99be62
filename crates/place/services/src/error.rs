//! Errors in reading, finding, recording, planning or seating services.

use seatmap_data::document::Blame;
use seatmap_watch::ChoiceError;

/// A mistake in `services.toml`: not valid TOML for this file, an impossible value, or parts that
/// do not fit together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ServicesFileError(pub(crate) String);

impl Blame for ServicesFileError {}

/// Services were not found or recorded.
#[derive(Debug, thiserror::Error)]
pub enum ServicesError {
    /// The processes of a service were not found.
    #[error("service '{name}'")]
    Absent {
        /// The service.
        name: String,
        /// The reason.
        source: ChoiceError,
    },
    /// The services or the request do not fit this computer: a sentence.
    #[error("{0}")]
    Unfit(String),
    /// The recording was stopped before its first sample.
    #[error("interrupted before the first sample")]
    Interrupted,
}

impl Blame for ServicesError {
    fn is_input(&self) -> bool {
        !matches!(self, ServicesError::Interrupted)
    }
}
