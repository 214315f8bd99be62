//! Why an import was refused.

use crate::document::{DocumentError, Position};

/// Why a file was refused: the problem, its position, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum MachineImportError {
    /// The file is of an unknown kind.
    #[error(
        "unrecognised format; expected one of: seatmap-profile JSON, seatmap-machine TOML, \
         core-to-core-latency CSV (run it with --csv), MCTOP .mct, hwloc v2 XML (lstopo --of xml)"
    )]
    Unknown,
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
    /// An unsupported format of another tool.
    #[error("this is {format}, which is not supported; {remedy}")]
    Foreign {
        /// Format.
        format: &'static str,
        /// Way to a supported format.
        remedy: &'static str,
    },
    /// An invalid text, profile or description, or facts that do not fit it.
    #[error(transparent)]
    Document(#[from] DocumentError),
}
