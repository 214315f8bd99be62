//! The controller's answers.

use seatmap_cell::undo::Left;
use seatmap_cell::{CellRecord, Name};
use serde::{Deserialize, Serialize};

/// Name and version of the format of lists.
pub const LIST_FORMAT: &str = "seatmap-queue/1";

/// One line from the controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlAnswer {
    /// The request's number; 0 where it has none.
    pub id: u64,
    /// The content of the answer.
    #[serde(flatten)]
    pub say: Say,
}

/// The content of an answer. A request gets any number of `waiting`, and one of the others;
/// `damaged`, `resumed` and `ended` come unasked to the connection that made the cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "say", rename_all = "lowercase")]
pub enum Say {
    /// The request waits.
    Waiting {
        /// The number of requests before it.
        before: usize,
        /// The number of requests that wait.
        waiting: usize,
    },
    /// The cell, made or renewed.
    Cell {
        /// The cell that was made.
        cell: Box<CellRecord>,
    },
    /// All cells, and the requests that wait.
    Cells {
        /// The cells.
        cells: Vec<Listed>,
    },
    /// The request is done.
    Done {
        /// The settings that could not be put back.
        left: Vec<String>,
    },
    /// It is not done.
    Error {
        /// The origin of the fault.
        kind: ErrorOrigin,
        /// The problem, and what to do.
        message: String,
    },
    /// Something is wrong with a cell.
    Damaged {
        /// The cell that has the faults.
        name: Name,
        /// The faults, one per line; empty where all is well again.
        faults: Vec<String>,
    },
    /// A cell's turn is over.
    Suspended {
        /// The cell that was suspended.
        name: Name,
    },
    /// It is a cell's turn again.
    Resumed {
        /// The cell whose turn it is.
        name: Name,
    },
    /// A cell has ended: its lease ran out, or a program undid it.
    Ended {
        /// The cell that has ended.
        name: Name,
    },
}

/// The origin of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ErrorOrigin {
    /// The client may not do this.
    Denied,
    /// The request is wrong.
    // The word of the first version of the protocol, which clients of other versions send and take.
    #[serde(rename = "asked")]
    Request,
    /// It would have to wait, and may not or must not.
    Busy,
    /// The controller failed to do it.
    Failed,
}

/// A cell in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listed {
    /// The name of the cell.
    pub name: Name,
    /// The phase of its life.
    pub phase: CellPhase,
    /// The user who asked for it; null where the controller did not make it.
    pub uid: Option<u32>,
    /// The cell; null while it waits or is suspended.
    pub cell: Option<CellRecord>,
    /// The problem, in words.
    pub faults: Vec<String>,
}

/// The cells of a controller and the requests that wait: the output of `seatmap-papers controller
/// list --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobList<'a> {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = LIST_FORMAT)))]
    format: &'static str,
    /// The cells, by age, and the requests.
    cells: &'a [Listed],
}

impl<'a> JobList<'a> {
    /// A list of these cells.
    #[must_use]
    pub fn of(cells: &'a [Listed]) -> Self {
        JobList { format: LIST_FORMAT, cells }
    }
}

/// The phase of a cell's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CellPhase {
    /// It has not been made yet.
    Waiting,
    /// The cell stands.
    Standing,
    /// It was made, and others have its CPUs for now.
    Suspended,
}

impl Say {
    /// The answer that shows a cell.
    #[must_use]
    pub fn cell(record: CellRecord) -> Self {
        Say::Cell { cell: Box::new(record) }
    }

    /// The answer to a request that is done, but for these settings.
    #[must_use]
    pub fn done(left: &[Left]) -> Self {
        Say::Done { left: left.iter().map(ToString::to_string).collect() }
    }

    /// The answer that reports an error.
    #[must_use]
    pub fn error(kind: ErrorOrigin, message: impl Into<String>) -> Self {
        Say::Error { kind, message: message.into() }
    }

    /// Whether a request is answered with this.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Say::Cell { .. } | Say::Cells { .. } | Say::Done { .. } | Say::Error { .. })
    }
}
