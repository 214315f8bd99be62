//! Why a file was refused.

use super::MAX_FILE_BYTES;
use crate::document::{DocumentError, Position};
use crate::machine::DescriptionError;
use crate::statistics::words::counted;

/// The reason why a file was refused: the problem, its place, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum MachineImportError {
    /// The file holds only white space.
    #[error("the file is empty; make it anew")]
    Empty,
    /// The file is larger than [`MAX_FILE_BYTES`].
    #[error(
        "the file has {bytes}, and no more than {MAX_FILE_BYTES} are read; import a smaller part \
         of it",
        bytes = counted(*.bytes, "byte")
    )]
    TooLarge {
        /// The size of the file.
        bytes: usize,
    },
    /// Bytes that are not UTF-8, as compressed files and UTF-16 exports have them.
    #[error("{place}: this is not UTF-8 text; unpack the file, or save it as plain UTF-8 text")]
    NotText {
        /// The first such byte.
        place: Position,
    },
    /// The file is not of a kind known here.
    #[error(
        "unrecognised format; expected one of: seatmap-profile JSON, seatmap-machine TOML, \
         core-to-core-latency CSV (run it with --csv), MCTOP .mct, hwloc v2 XML (lstopo --of xml)"
    )]
    Unknown,
    /// A known kind of file with something wrong in it.
    #[error("{place}: {problem}; {remedy}")]
    Malformed {
        /// The place of the fault.
        place: Position,
        /// The problem, in words.
        problem: String,
        /// The remedy: what the user can do.
        remedy: &'static str,
    },
    /// Another tool converts it to a version that is read.
    #[error("{place}: {problem}, which hwloc 2 converts: {command}")]
    Convertible {
        /// The place where the version stands, or should.
        place: Position,
        /// The problem, in words.
        problem: String,
        /// The command.
        command: String,
    },
    /// Another tool's output that is not read.
    #[error("this is {format}, which is not read; {remedy}")]
    Foreign {
        /// The output.
        format: &'static str,
        /// The way to what is read.
        remedy: &'static str,
    },
    /// A profile that is not JSON, or whose parts do not fit together.
    #[error(transparent)]
    Profile(#[from] DocumentError),
    /// A description that is not TOML, or that does not describe a machine.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// A frequency at which no processor counts.
    #[error("{0} Hz is not a clock frequency; give the time-stamp counter's, such as 2.8g")]
    Frequency(f64),
    /// A matrix and a topology of different machines, by their size.
    #[error(
        "the matrix has {matrix} and the topology {topology}; take the topology of the machine and \
         the cpuset that the matrix was measured on, or name the CPUs of the rows with --cpus LIST",
        matrix = counted(*.matrix, "PU")
    )]
    PuCount {
        /// Rows of the matrix.
        matrix: usize,
        /// PUs of the topology.
        topology: usize,
    },
    /// CPUs for the rows of a file that has no rows without names.
    #[error(
        "only a core-to-core matrix has rows without CPU numbers; leave out --cpus, the file names \
         its PUs itself"
    )]
    NamedRows,
    /// CPUs for another number of rows.
    #[error(
        "the matrix has {matrix}, and --cpus names {cpus}; name the CPU of each row, in the order \
         of the rows",
        matrix = counted(*.matrix, "row")
    )]
    RowCount {
        /// Rows of the matrix.
        matrix: usize,
        /// CPUs that were named.
        cpus: usize,
    },
    /// A matrix and a topology of different machines, by the PUs' names.
    #[error(
        "PU {os} of the matrix is not in the topology, which has {pus}; take the topology of the \
         same machine and cpuset", pus = counted(*.pus, "PU"))]
    PuMissing {
        /// The number of PUs of the topology.
        pus: usize,
        /// The first that the topology does not have.
        os: u32,
    },
}
