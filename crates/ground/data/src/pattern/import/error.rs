//! The errors of importing a pattern.

use crate::document::{DocumentError, Position};
use std::fmt::Display;

pub const FEWER_TASKS: &str = "merge tasks that belong together";

/// Why a file cannot be imported as a pattern: the problem, its position, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum PatternImportError {
    /// The file is of an unknown kind.
    #[error(
        "unrecognised format of a pattern; expected one of: seatmap-pattern JSON, MatrixMarket, \
         METIS graphs, QAPLIB .dat, CSV matrices, CSV lists of edges (with the first line \
         from,to,bytes)"
    )]
    Unknown,
    /// Another format of the field.
    #[error("this is {format}, which is not supported; {remedy}")]
    Foreign {
        /// Its name.
        format: &'static str,
        /// Way to convert it.
        remedy: String,
    },
    /// A choice between two matrices, for a file with only one.
    #[error("the file has only one matrix, and --matrix is for QAPLIB's .dat files; leave it out")]
    OneMatrix,
    /// A mistake in a file of a known kind, or an inconsistent pattern.
    #[error(transparent)]
    Pattern(#[from] DocumentError),
}

pub type Reading<T> = Result<T, PatternImportError>;

/// Refuses a file with a mistake at a place.
pub fn malformed<T>(place: Position, problem: impl Display, remedy: &'static str) -> Reading<T> {
    Err(DocumentError::at(place, format!("{problem}; {remedy}")).into())
}
