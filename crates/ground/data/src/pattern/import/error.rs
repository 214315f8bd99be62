//! The errors of importing a pattern.

use super::MAX_FILE_BYTES;
use crate::document::{DocumentError, Position};
use crate::pattern::NumbersError;

pub const FEWER_TASKS: &str = "merge tasks that belong together";

/// Why a file cannot be imported as a pattern: the problem, its position, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum PatternImportError {
    /// The file contains only white space.
    #[error("the file is empty; create it again")]
    Empty,
    /// The file is larger than [`MAX_FILE_BYTES`].
    #[error(
        "the file is above the limit of {MAX_FILE_BYTES} bytes; leave out edges with few bytes"
    )]
    TooLarge,
    /// Bytes that are not UTF-8, as in compressed files and UTF-16 exports.
    #[error("{place}: this is not UTF-8 text; unpack the file, or save it as plain UTF-8 text")]
    NotText {
        /// The first such byte.
        place: Position,
    },
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
    /// A mistake in a file of a known kind.
    #[error("{place}: {problem}; {remedy}")]
    Malformed {
        /// Position of the mistake.
        place: Position,
        /// Problem, in words.
        problem: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// An invalid file of Seatmap's format, or an inconsistent pattern.
    #[error(transparent)]
    Pattern(#[from] DocumentError),
    /// An invalid QAPLIB instance.
    #[error(transparent)]
    Qaplib(#[from] NumbersError),
}

pub type Reading<T> = Result<T, PatternImportError>;

/// Refuses a file with a mistake at a place.
pub fn malformed<T>(
    place: Position,
    problem: impl Into<String>,
    remedy: &'static str,
) -> Reading<T> {
    Err(PatternImportError::Malformed { place, problem: problem.into(), remedy })
}
