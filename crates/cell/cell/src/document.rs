//! Cells as documents, for programs.

use crate::record::Record;
use serde::Serialize;

/// A list of cells: as they are here, or as a controller reports them.
#[derive(Debug, Serialize)]
pub struct CellList<'a, T> {
    format: &'static str,
    cells: &'a [T],
}

impl<'a, T> CellList<'a, T> {
    /// A list of these cells.
    #[must_use]
    pub fn of(cells: &'a [T]) -> Self {
        CellList { format: "seatmap-cells/1", cells }
    }
}

/// A cell, and whether it is what it was made to be.
#[derive(Debug, Serialize)]
pub struct CellVerdict<'a> {
    /// The cell.
    #[serde(flatten)]
    pub record: &'a Record,
    /// The faults of the cell; none where all is well.
    pub faults: &'a [String],
}
