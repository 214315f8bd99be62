//! The controller's answers.

use seatmap_cell::undo::Left;
use seatmap_cell::{CellRecord, Name};
use serde::{Deserialize, Serialize};

/// Name and version of the format of lists.
pub const LIST_FORMAT: &str = "seatmap-queue/1";

/// A line from the controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlAnswer {
    /// The request's number; 0 for an event without a request.
    pub id: u64,
    /// The content of the answer.
    #[serde(flatten)]
    pub say: Say,
}

/// The content of an answer. A request gets any number of `waiting` answers and then one final
/// answer. The events `damaged`, `suspended`, `resumed` and `ended` go to the connection that
/// created the cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "say", rename_all = "lowercase")]
pub enum Say {
    /// The request waits.
    Waiting {
        /// The number of requests ahead of it.
        before: usize,
        /// The number of waiting requests.
        waiting: usize,
    },
    /// The cell was created or renewed.
    Cell {
        /// The cell.
        cell: Box<CellRecord>,
    },
    /// All cells and waiting requests.
    Cells {
        /// The cells and waiting requests.
        cells: Vec<Listed>,
    },
    /// The request was carried out.
    Done {
        /// Settings that could not be restored.
        left: Vec<String>,
    },
    /// The request failed.
    Error {
        /// The origin of the error.
        kind: ErrorOrigin,
        /// The problem, and the remedy.
        message: String,
    },
    /// The faults of a cell have changed.
    Damaged {
        /// The cell.
        name: Name,
        /// The faults, one per line; empty if the cell is in order again.
        faults: Vec<String>,
    },
    /// A cell's turn is over.
    Suspended {
        /// The suspended cell.
        name: Name,
    },
    /// A cell has its turn again.
    Resumed {
        /// The resumed cell.
        name: Name,
    },
    /// A cell has ended: its lease expired, or a program destroyed it.
    Ended {
        /// The ended cell.
        name: Name,
    },
}

/// The origin of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ErrorOrigin {
    /// The client has no permission.
    Denied,
    /// The request is invalid.
    // The word of the protocol's first version, which clients of other versions use.
    #[serde(rename = "asked")]
    Request,
    /// The request would have to wait, but must not or is over a limit.
    Busy,
    /// The controller failed.
    Failed,
}

/// A cell in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listed {
    /// The name of the cell.
    pub name: Name,
    /// Whether it waits, exists or is suspended.
    pub phase: CellPhase,
    /// The user who requested it; null if the controller did not create it.
    pub uid: Option<u32>,
    /// The cell; null while it waits or is suspended.
    pub cell: Option<CellRecord>,
    /// The cell's faults, one line each.
    pub faults: Vec<String>,
}

/// The cells and waiting requests of a controller: the output of `seatmap-papers controller list
/// --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobList<'a> {
    /// Name and version of the format.
    format: &'static str,
    /// The cells by age, and the waiting requests.
    cells: &'a [Listed],
}

impl<'a> JobList<'a> {
    /// Creates a list of these cells.
    pub fn of(cells: &'a [Listed]) -> Self {
        JobList { format: LIST_FORMAT, cells }
    }
}

/// The phase of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CellPhase {
    /// The cell is not created yet.
    Waiting,
    /// The cell exists.
    Standing,
    /// The cell was created, but other cells have its CPUs now.
    Suspended,
}

impl Say {
    /// The answer with a cell.
    pub fn cell(record: CellRecord) -> Self {
        Say::Cell { cell: Box::new(record) }
    }

    /// The answer to a completed request, with the settings that could not be restored.
    pub fn done(left: &[Left]) -> Self {
        Say::Done { left: left.iter().map(ToString::to_string).collect() }
    }

    /// The answer that reports an error.
    pub fn error(kind: ErrorOrigin, message: impl Into<String>) -> Self {
        Say::Error { kind, message: message.into() }
    }

    /// Whether this answer completes a request.
    pub fn is_final(&self) -> bool {
        matches!(self, Say::Cell { .. } | Say::Cells { .. } | Say::Done { .. } | Say::Error { .. })
    }
}
