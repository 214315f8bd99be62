//! The ledger: the facts about the controller's cells that must be known when it dies. They are
//! written down before they come true.

use crate::gang::{self, Stopped};
use crate::whole;
use seatmap_cell::undo::Left;
use seatmap_cell::{CellError, Host, Name, destroy};
use seatmap_document::json_problem;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;

/// The ledger's file. Cells' own files end otherwise.
const FILE: &str = "controller.ledger";

/// A second copy, for a ledger that gets damaged.
const COPY: &str = "controller.ledger.copy";

/// A damaged ledger, put aside.
const ASIDE: &str = "controller.ledger.damaged";

/// One of the controller's cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The boot that it belongs to.
    pub boot_id: String,
    /// The cell.
    pub name: Name,
    /// The user that asked for it.
    pub uid: u32,
    /// Whether it outlives its client, and so the controller.
    pub is_detached: bool,
    /// Whether it takes turns.
    pub takes_turns: bool,
    /// The threads that are stopped while others have its CPUs.
    pub stopped: Vec<Stopped>,
}

/// The entries of the ledger, or else of its copy; empty where there is neither, or none of this
/// boot.
///
/// # Errors
/// The ledger cannot be read, or is damaged, and no copy can be read.
pub fn read(host: &Host) -> io::Result<Vec<Entry>> {
    let written = match (read_file(host, FILE), read_file(host, COPY)) {
        (Ok(Some(written)), _) | (_, Ok(Some(written))) => written,
        (Err(error), _) => return Err(error),
        (Ok(None), _) => Vec::new(),
    };
    Ok(written.into_iter().filter(|entry| entry.boot_id == host.boot_id).collect())
}

fn read_file(host: &Host, name: &str) -> io::Result<Option<Vec<Entry>>> {
    match host.run.read(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => {
            let entries = serde_json::from_slice(&read?);
            Ok(Some(entries.map_err(|error| {
                io::Error::new(io::ErrorKind::InvalidData, json_problem(error))
            })?))
        }
    }
}

/// Puts a ledger that cannot be read aside, for a person to look at. Where its copy cannot be read
/// either, the cells that wait for a turn are no longer known.
pub fn set_aside(host: &Host) -> Option<Left> {
    let error = read_file(host, FILE).err()?;
    let path = host.run.file(FILE);
    let aside = host.run.file(ASIDE);
    let kept = match fs::rename(&path, &aside) {
        Ok(()) => format!("it is kept as {}", aside.display()),
        Err(error) => format!("it cannot be kept: {error}"),
    };
    let harm = match read_file(host, COPY) {
        Ok(Some(_)) => "its copy is used, and nothing is lost",
        _ => {
            "programs that waited for a turn may be stopped still (kill -CONT), and its cells stand until destroyed"
        }
    };
    let why = format!("{error}; {harm}; {kept}");
    Some(Left { path: path.display().to_string(), why })
}

/// Writes it, and its copy: each file is whole, old or new. The changes that they describe are made
/// after that, so that a writer who dies between the two leaves nothing that only one of them
/// knows.
///
/// # Errors
/// The system's error.
pub fn write(host: &Host, entries: &[Entry]) -> io::Result<()> {
    whole::write(host, FILE, &entries)?;
    whole::write(host, COPY, &entries)
}

/// Finishes the work of a controller that is gone: threads that wait for their turn go on, outside;
/// cells whose clients were connected to it are undone. Returns the detached cells, which stand,
/// and the settings that could not be put back.
///
/// # Errors
/// A journal or the ledger cannot be read or written.
pub fn wind_up(host: &Host) -> Result<(Vec<Entry>, Vec<Left>), CellError> {
    let mut standing = Vec::new();
    let mut left = Vec::new();
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

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_cell::{GuardianCommand, run_folder::RunFolder};
    use seatmap_os::Root;

    fn host(folder: &std::path::Path) -> Host {
        let root = Root::new(folder);
        let keeper = GuardianCommand(Vec::new());
        Host {
            root,
            run: RunFolder::new(&folder.join("run")).unwrap(),
            boot_id: "now".into(),
            keeper,
        }
    }

    fn entry(name: &str, boot_id: &str) -> Entry {
        let name = name.parse().unwrap();
        let boot_id = boot_id.to_owned();
        Entry { boot_id, name, uid: 7, is_detached: false, takes_turns: false, stopped: Vec::new() }
    }

    #[test]
    fn a_damaged_ledger_has_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path());
        assert_eq!(
            (read(&host).unwrap(), set_aside(&host)),
            (Vec::new(), None),
            "there is none yet"
        );
        write(&host, &[entry("a", "now"), entry("b", "then")]).unwrap();
        host.run.replace(FILE, b"[{\"boot_id\":").unwrap();
        assert_eq!(read(&host).unwrap(), [entry("a", "now")]);
        let told = set_aside(&host).unwrap();
        assert!(
            told.why.contains("its copy is used") && told.why.contains("it is kept as"),
            "{told}"
        );
        assert_eq!((read(&host).unwrap(), set_aside(&host)), (vec![entry("a", "now")], None));
    }

    #[test]
    fn without_a_copy_a_damaged_ledger_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path());
        write(&host, &[entry("a", "now")]).unwrap();
        for name in [FILE, COPY] {
            host.run.replace(name, b"?").unwrap();
        }
        assert!(read(&host).is_err());
        assert!(set_aside(&host).unwrap().why.contains("stand until destroyed"));
        assert_eq!(
            read(&host).map_err(|error| error.kind()),
            Ok(Vec::new()),
            "the next controller begins anew"
        );
    }
}
