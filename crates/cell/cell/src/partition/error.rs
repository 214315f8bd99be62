//! Why a cell cannot be closed in some way.

use crate::site::SiteError;
use seatmap_os::root::FileError;

/// Why a cell cannot be closed in some way.
#[derive(Debug, thiserror::Error)]
pub enum ClosingError {
    /// This kernel, or how it is set up, does not offer it.
    #[error("{0}")]
    NotHere(String),
    /// A step failed.
    #[error(transparent)]
    Site(#[from] SiteError),
}

impl From<FileError> for ClosingError {
    fn from(error: FileError) -> Self {
        ClosingError::Site(error.into())
    }
}
