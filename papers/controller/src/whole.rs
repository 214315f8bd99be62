//! Files that are whole, old or new, whenever their writer dies.

use seatmap_cell::{CellHost, fault};
use serde::Serialize;
use std::io;

/// Puts a document in place of the file of this name, in the folder where cells are remembered. It
/// need not survive the power: what it tells of does not either.
pub(crate) fn write(host: &CellHost, name: &str, document: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(document)?;
    fault::point();
    host.run.replace(name, &bytes)
}
