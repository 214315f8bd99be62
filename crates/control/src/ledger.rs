//! What must be known of the controller's cells when it dies: written down before it is so.

use crate::gang::{self, Stopped};
use crate::whole;
use seatmap_cell::undo::Left;
use seatmap_cell::{CellError, Host, Name, destroy};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;

/// The ledger's file. Cells' own files end otherwise.
const FILE: &str = "controller.ledger";

/// One of the controller's cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The boot that it belongs to.
    pub boot_id: String,
    /// The cell.
    pub name: Name,
    /// Who asked for it.
    pub uid: u32,
    /// Whether it outlives its client, and so the controller.
    pub is_detached: bool,
    /// Whether it takes turns.
    pub takes_turns: bool,
    /// The threads that are stopped while others have its CPUs.
    pub stopped: Vec<Stopped>,
}

/// What is written; nothing where there is no ledger, or none of this boot.
#[must_use]
pub fn read(host: &Host) -> Vec<Entry> {
    let entries =
        fs::read(host.run.file(FILE)).ok().and_then(|bytes| serde_json::from_slice::<Vec<Entry>>(&bytes).ok());
    entries.unwrap_or_default().into_iter().filter(|entry| entry.boot_id == host.boot_id).collect()
}

/// Writes it: the file is whole, old or new.
///
/// # Errors
/// What the system says.
pub fn write(host: &Host, entries: &[Entry]) -> io::Result<()> {
    whole::write(host, FILE, &entries)
}

/// Ends what a controller that is gone was in the middle of: threads that wait for their turn go on, outside; cells whose
/// clients were connected to it are undone. Those that are detached stand, and are returned, with what could not be put
/// back.
///
/// # Errors
/// A journal or the ledger cannot be read or written.
pub fn wind_up(host: &Host) -> Result<(Vec<Entry>, Vec<Left>), CellError> {
    let (mut standing, mut left) = (Vec::new(), Vec::new());
    for mut entry in read(host) {
        gang::go_on(&host.root, &std::mem::take(&mut entry.stopped));
        let stands = host.cell(&entry.name).is_ok();
        match (stands, entry.is_detached) {
            (true, true) => standing.push(entry),
            (true, false) => left.extend(destroy(host, &entry.name)?),
            (false, _) => {}
        }
    }
    write(host, &standing).map_err(CellError::Remembering)?;
    Ok((standing, left))
}
