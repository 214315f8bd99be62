//! Why an import was refused.

use super::MAX_FILE_BYTES;
use crate::document::{DocumentError, Position};
use crate::statistics::words::counted;

/// Why a file was refused: the problem, its position, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum MachineImportError {
    /// The file contains only white space.
    #[error("the file is empty; create it again")]
    Empty,
    /// The file is larger than [`MAX_FILE_BYTES`].
    #[error(
        "the file has {bytes}, but the limit is {MAX_FILE_BYTES}; import a smaller part of it",
        bytes = counted(.bytes, "byte")
    )]
    TooLarge {
        /// Size of the file.
        bytes: usize,
    },
    /// Bytes that are not UTF-8, as in compressed files and UTF-16 exports.
    #[error("{place}: this is not UTF-8 text; unpack the file, or save it as plain UTF-8 text")]
    NotText {
        /// The first such byte.
        place: Position,
    },
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
    /// Another tool converts the file to a supported version.
    #[error("{place}: {problem}, which hwloc 2 converts: {command}")]
    Convertible {
        /// Position of the version, or where it is missing.
        place: Position,
        /// Problem, in words.
        problem: String,
        /// Command.
        command: String,
    },
    /// An unsupported format of another tool.
    #[error("this is {format}, which is not supported; {remedy}")]
    Foreign {
        /// Format.
        format: &'static str,
        /// Way to a supported format.
        remedy: &'static str,
    },
    /// An invalid profile or description.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// An impossible frequency.
    #[error("{0} Hz is not a clock frequency; give that of the time-stamp counter, such as 2.8g")]
    Frequency(f64),
    /// A matrix and a topology of different machines, by their size.
    #[error(
        "the matrix has {matrix}, but the topology has {topology}; use the topology of the same \
         machine and cpuset, or name the CPUs of the rows with --cpus LIST",
        matrix = counted(.matrix, "PU")
    )]
    PuCount {
        /// Rows of the matrix.
        matrix: usize,
        /// PUs of the topology.
        topology: usize,
    },
    /// CPUs for the rows of a file whose rows have names.
    #[error("the file names its PUs itself; leave out --cpus, which is for core-to-core matrices")]
    NamedRows,
    /// CPUs for another number of rows.
    #[error(
        "the matrix has {matrix}, but --cpus names {cpus}; name the CPU of each row, in the order \
         of the rows",
        matrix = counted(.matrix, "row")
    )]
    RowCount {
        /// Rows of the matrix.
        matrix: usize,
        /// Named CPUs.
        cpus: usize,
    },
    /// A matrix and a topology of different machines, by the PUs' names.
    #[error(
        "PU {os} of the matrix is not in the topology, which has {pus}; use the topology of the \
         same machine and cpuset", pus = counted(.pus, "PU"))]
    PuMissing {
        /// The number of PUs of the topology.
        pus: usize,
        /// The first PU missing from the topology.
        os: u32,
    },
}
