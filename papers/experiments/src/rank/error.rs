//! The errors of a study: before it begins, while it runs, and in the file of a ranking.

use super::Shard;
use super::mapping::MOST_TASKS;
use seatmap_cell_sim::channels::dma::DmaError;
use seatmap_data::document::DocumentError;
use seatmap_measure::journal::JournalError;

/// Why a study cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// Too few or too many tasks.
    #[error("{0} tasks cannot be ranked: a ring has 2 to {MOST_TASKS}")]
    Tasks(usize),
    /// More tasks than workers.
    #[error("{tasks} tasks do not fit on {machine}, which seats {pus}, one task each")]
    Seats {
        /// Tasks.
        tasks: usize,
        /// The machine.
        machine: String,
        /// Its workers.
        pus: usize,
    },
    /// Too many mappings to run them all.
    #[error(
        "{tasks} tasks have {mappings} mappings, too many to run them all; --sample 1000 runs that \
         many"
    )]
    Exhaustive {
        /// Tasks.
        tasks: usize,
        /// Their mappings.
        mappings: u64,
    },
    /// A sample of nothing.
    #[error("a sample of no mappings has no ranks; --sample 100 draws a hundred")]
    EmptySample,
    /// A sample that would take too long.
    #[error(
        "a sample of {0} mappings is too large: the maximum is {most}",
        most = super::choice::LARGEST_SAMPLE
    )]
    LargeSample(u64),
    /// A ring that is not its own mirror image.
    #[error(
        "a unidirectional ring differs from its mirror image, so --symmetry would omit mappings"
    )]
    Symmetry,
    /// A packet that the hardware would refuse.
    #[error("{0}")]
    Packet(DmaError),
    /// A packet of 1 to 8 bytes.
    #[error("a packet of {0} bytes: the ring's packets are a multiple of 16 bytes, up to 16384")]
    SmallPacket(u32),
    /// An entry of the matrix that the library cannot write.
    #[error("entries of {0} bytes; the ring's library writes entries of 4, 8, 16 or 128 bytes")]
    Entry(u32),
    /// A program without timed work.
    #[error("no {0}, so there is nothing to time; leave --{0} out or write 1 or more")]
    Nothing(&'static str),
    /// The runs do not fit into memory.
    #[error(
        "{mappings} mappings {runs} times are too many runs: the maximum is {most}",
        most = super::setup::MOST_RUNS
    )]
    ManyRuns {
        /// Mappings.
        mappings: usize,
        /// Each mapping's runs.
        runs: u32,
    },
    /// A part without a mapping.
    #[error("part {number}/{of} holds none of the {mappings} mappings; use fewer parts")]
    EmptyShard {
        /// The part's number.
        number: u32,
        /// Parts.
        of: u32,
        /// Mappings of all parts.
        mappings: usize,
    },
}

/// Why rankings cannot be read or merged.
#[derive(Debug, thiserror::Error)]
pub enum RankingError {
    /// The text is not a document of this format.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The setup in the file cannot be run.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A mapping outside the setup, a repeated one, or one with impossible times.
    #[error("the times of {0} are not from this study, or are duplicates")]
    Row(String),
    /// Mappings are missing.
    #[error("mappings of this study are missing")]
    Incomplete,
    /// The ranking is not a part of a study.
    #[error("it is complete, not a part made with --shard")]
    Whole,
    /// The part belongs to another study.
    #[error("it belongs to another study than the first file: {0}")]
    Other(&'static str),
    /// A part was given twice.
    #[error("part {0} is given twice")]
    Twice(Shard),
    /// Parts are missing.
    #[error("{missing} of {of} parts are missing: {list}")]
    Missing {
        /// All parts.
        of: u32,
        /// Missing parts.
        missing: usize,
        /// The first missing parts.
        list: String,
    },
    /// There is nothing to merge.
    #[error("there is nothing to merge")]
    Nothing,
}

/// Why a study failed; `E` is the machine's own error.
#[derive(Debug, thiserror::Error)]
pub enum RankStudyError<E: std::error::Error + 'static> {
    /// The machine failed.
    #[error("mapping {mapping}, run {run}")]
    Machine {
        /// The mapping.
        mapping: String,
        /// The run, from 1.
        run: u32,
        /// The machine's error.
        source: E,
    },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}
