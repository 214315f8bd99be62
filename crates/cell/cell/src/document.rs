//! Cells as documents, for programs.

use crate::record::Record;
use serde::Serialize;

/// A list of cells: as they are here, or as a controller reports them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellList<'a, T> {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "seatmap-cells/1")))]
    format: &'static str,
    /// The cells, by age.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellVerdict<'a> {
    /// The cell.
    #[serde(flatten)]
    pub record: &'a Record,
    /// The faults of the cell, each as a sentence.
    pub faults: &'a [String],
}
