//! Cells as documents for programs.

use crate::CellRecord;
use serde::Serialize;

/// Name and version of the list's format.
pub const LIST_FORMAT: &str = "seatmap-cells/1";

/// The cells of this host, as printed by `seatmap cell list --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellList<'a> {
    /// Name and version of the format.
    format: &'static str,
    /// The cells, oldest first.
    cells: &'a [CellRecord],
}

impl<'a> CellList<'a> {
    /// A list of these cells.
    pub fn of(cells: &'a [CellRecord]) -> Self {
        CellList { format: LIST_FORMAT, cells }
    }
}

/// A cell and its faults.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellVerdict<'a> {
    /// The cell.
    #[serde(flatten)]
    pub record: &'a CellRecord,
    /// The cell's faults, one sentence each.
    pub faults: &'a [String],
}
