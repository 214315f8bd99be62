//! The ledger: the facts about the controller's cells that must survive it. They are written before
//! they become true.

use crate::gang::{self, StoppedThread};
use crate::whole;
use seatmap_cell::undo::Left;
use seatmap_cell::{CellError, CellHost, Name, destroy};
use seatmap_data::document::{json_problem, with_causes};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;

/// The ledger's file. Cells' own files have other suffixes.
const FILE: &str = "controller.ledger";

/// A second copy, in case the ledger is damaged.
const COPY: &str = "controller.ledger.copy";

const ASIDE: &str = "controller.ledger.damaged";

/// One of the controller's cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// The boot in which it was created.
    pub boot_id: String,
    /// The cell.
    pub name: Name,
    /// The user who requested it.
    pub uid: u32,
    /// Whether it outlives its client and the controller.
    pub is_detached: bool,
    /// Whether it takes turns.
    pub takes_turns: bool,
    /// The threads stopped while other cells have its CPUs.
    pub stopped: Vec<StoppedThread>,
}

/// Reads the ledger, or its copy if the ledger is missing or damaged. Returns no entries if neither
/// exists or none is of this boot.
///
/// # Errors
/// The ledger cannot be read or is damaged, and so is its copy.
pub fn read(host: &CellHost) -> io::Result<Vec<LedgerEntry>> {
    let written = match (read_file(host, FILE), read_file(host, COPY)) {
        (Ok(Some(written)), _) | (_, Ok(Some(written))) => written,
        (Err(error), _) => return Err(error),
        (Ok(None), _) => Vec::new(),
    };
    Ok(written.into_iter().filter(|entry| entry.boot_id == host.boot_id).collect())
}

fn read_file(host: &CellHost, name: &str) -> io::Result<Option<Vec<LedgerEntry>>> {
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

/// Renames an unreadable ledger for inspection. If its copy is unreadable too, cells that wait for
/// a turn are lost.
pub fn set_aside(host: &CellHost) -> Option<Left> {
    let error = read_file(host, FILE).err()?;
    let path = host.run.file(FILE);
    let aside = host.run.file(ASIDE);
    let kept = match fs::rename(&path, &aside) {
        Ok(()) => format!("it is kept as {}", aside.display()),
        Err(error) => format!("it cannot be kept: {}", with_causes(&error)),
    };
    let harm = match read_file(host, COPY) {
        Ok(Some(_)) => "its copy is used, and nothing is lost",
        _ => {
            "programs waiting for a turn may still be stopped (kill -CONT), and its cells stay \
             until destroyed"
        }
    };
    let why = format!("{error}; {harm}; {kept}");
    Some(Left::new(path.display().to_string(), why))
}

/// Writes the ledger and its copy before the described changes; each file is complete, old or new.
///
/// # Errors
/// The system's error.
pub fn write(host: &CellHost, entries: &[LedgerEntry]) -> io::Result<()> {
    whole::write(host, FILE, &entries)?;
    whole::write(host, COPY, &entries)
}

/// Finishes an ended controller's work: continues stopped threads outside their cell, and destroys
/// cells whose clients were connected to it. Returns the detached cells, which remain, and the
/// settings that could not be restored.
///
/// # Errors
/// A journal or the ledger cannot be read or written. A cell that cannot be destroyed stays in the
/// ledger for the next controller; all others are handled.
pub fn wind_up(host: &CellHost) -> Result<(Vec<LedgerEntry>, Vec<Left>), CellError> {
    let entries = read(host).map_err(CellError::Remembering)?;
    // First, so that no program stays stopped because of another one's cell.
    for entry in &entries {
        gang::go_on(&host.root, &entry.stopped);
    }
    let mut standing = Vec::new();
    let mut left = Vec::new();
    let mut failure = None;
    for entry in entries {
        let entry = LedgerEntry { stopped: Vec::new(), ..entry };
        match end(host, &entry) {
            Ok(Some(found)) => left.extend(found),
            Ok(None) => standing.push(entry),
            Err(error) => {
                failure = failure.or(Some(error));
                standing.push(entry);
            }
        }
    }
    write(host, &standing).map_err(CellError::Remembering)?;
    failure.map_or(Ok((standing, left)), Err)
}

/// Returns `None` if the cell remains.
fn end(host: &CellHost, entry: &LedgerEntry) -> Result<Option<Vec<Left>>, CellError> {
    match host.cell(&entry.name) {
        Ok(_) if entry.is_detached => Ok(None),
        Ok(_) => destroy(host, &entry.name).map(Some),
        Err(CellError::NoSuchCell(_)) => Ok(Some(Vec::new())),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gang::tests::Sleeper;
    use crate::scheduler::tests::stand;
    use rustix::fs::{MemfdFlags, memfd_create};
    use seatmap_cell::memory::CellMemory;
    use seatmap_cell::{GuardianCommand, run_folder::RunFolder};
    use seatmap_os::Root;
    use seatmap_os::task::ThreadStat;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::process::Command;

    fn host(folder: &std::path::Path) -> CellHost {
        let root = Root::new(folder);
        let keeper = GuardianCommand(Vec::new());
        CellHost {
            root,
            run: RunFolder::new(&folder.join("run")).unwrap(),
            boot_id: "now".into(),
            keeper,
        }
    }

    fn entry(name: &str, boot_id: &str) -> LedgerEntry {
        let name = name.parse().unwrap();
        let boot_id = boot_id.to_owned();
        LedgerEntry {
            boot_id,
            name,
            uid: 7,
            is_detached: false,
            takes_turns: false,
            stopped: Vec::new(),
        }
    }

    #[test]
    fn damaged_ledger_is_replaced_by_its_copy() {
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
    fn damaged_ledger_without_copy_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path());
        write(&host, &[entry("a", "now")]).unwrap();
        for name in [FILE, COPY] {
            host.run.replace(name, b"?").unwrap();
        }
        assert!(read(&host).is_err());
        assert!(set_aside(&host).unwrap().why.contains("stay until destroyed"));
        assert_eq!(
            read(&host).map_err(|error| error.kind()),
            Ok(Vec::new()),
            "the next controller begins anew"
        );
    }

    /// The cell cannot be destroyed while the descriptor is open.
    fn too_short() -> (CellMemory, OwnedFd) {
        let file = memfd_create("seatmap-cell", MemfdFlags::CLOEXEC).unwrap();
        let path = Some(format!("/proc/self/fd/{}", file.as_raw_fd()));
        (CellMemory { size_bytes: 1 << 21, is_huge: false, nodes: "0".into(), path }, file)
    }

    #[test]
    fn threads_continue_if_cell_cannot_be_undone() {
        let folder = tempfile::tempdir().unwrap();
        let host = CellHost { root: Root::new("/"), ..host(folder.path()) };
        let (memory, file) = too_short();
        stand(&host, "a", Vec::new(), Some(memory));
        let sleeper = Sleeper(Command::new("sleep").arg("600").spawn().unwrap());
        let task = ThreadStat::of(sleeper.0.id().cast_signed()).unwrap();
        // SAFETY: the number is that of a child of this process, which lives.
        unsafe { libc::kill(task.pid, libc::SIGSTOP) };
        assert!(sleeper.becomes('T'));
        let started_ticks = task.started_ticks;
        let thread =
            StoppedThread { tid: task.tid, pid: task.pid, started_ticks, cpus: String::new() };
        let waits = LedgerEntry { stopped: vec![thread], ..entry("b", "now") };
        write(&host, &[entry("a", "now"), waits]).unwrap();
        assert!(wind_up(&host).is_err());
        assert!(sleeper.becomes('S'));
        assert_eq!(read(&host).unwrap(), [entry("a", "now")], "the next controller tries again");
        drop(file);
    }
}
