//! Files that are always complete, old or new, even if their writer dies.

use seatmap_cell::{CellHost, fault};
use serde::Serialize;
use std::io;

/// Replaces the file of this name in the folder of cell records. It need not survive a power
/// failure, because neither do the cells.
pub fn write(host: &CellHost, name: &str, document: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(document)?;
    fault::point();
    host.run.replace(name, &bytes)
}
