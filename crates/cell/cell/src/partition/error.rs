//! Why a backend cannot close a cell.

use crate::site::SiteError;
use seatmap_os::FileError;

/// A backend's failure.
#[derive(Debug, thiserror::Error)]
pub enum ClosingError {
    /// This kernel or its configuration does not offer it.
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
