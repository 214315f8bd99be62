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

/// One that is damaged.
const ASIDE: &str = "controller.ledger.damaged";

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
///
/// # Errors
/// It cannot be read, or is damaged.
pub fn read(host: &Host) -> io::Result<Vec<Entry>> {
    let bytes = match host.run.read(FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let entries: Vec<Entry> = serde_json::from_slice(&bytes)?;
    Ok(entries.into_iter().filter(|entry| entry.boot_id == host.boot_id).collect())
}

/// Puts a ledger that cannot be read aside, for a person to look at: nobody else knows any more who waits for a turn.
pub fn set_aside(host: &Host) -> Option<Left> {
    let error = read(host).err()?;
    let (path, aside) = (host.run.file(FILE), host.run.file(ASIDE));
    let kept = match fs::rename(&path, &aside) {
        Ok(()) => format!("it is kept as {}", aside.display()),
        Err(error) => format!("it cannot be kept: {error}"),
    };
    let harm = "programs that waited for a turn may be stopped still (kill -CONT), and its cells stand until destroyed";
    let why = format!("{error}; {harm}; {kept}");
    Some(Left { path: path.display().to_string(), why })
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
    for mut entry in read(host).map_err(CellError::Remembering)? {
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
