//! The errors of experiments.

use seatmap_data::document::Blame;

/// Why an experiment failed.
#[derive(Debug, thiserror::Error)]
pub enum ChannelsError {
    /// The experiment does not fit the machine, or its options contradict each other.
    #[error("{0}")]
    Unfit(String),
    /// The machine failed.
    #[error(transparent)]
    Run(Box<dyn std::error::Error + Send + Sync>),
}

impl Blame for ChannelsError {
    fn is_input(&self) -> bool {
        matches!(self, ChannelsError::Unfit(_))
    }
}

impl ChannelsError {
    pub(crate) fn run(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        ChannelsError::Run(Box::new(error))
    }
}
