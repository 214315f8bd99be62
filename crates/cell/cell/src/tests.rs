//! The beginnings of tests in several modules.

use crate::{CellJournal, CellJournalHeader};
use seatmap_os::CpuSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub fn set(list: &str) -> CpuSet {
    CpuSet::of_list(list).unwrap()
}

/// A new journal of the boot `boot`.
pub fn journal(folder: &Path, cell: &str, cpus: &str, serial: u64) -> CellJournal {
    journal_since(folder, cell, cpus, serial, None)
}

pub fn journal_since(
    folder: &Path,
    cell: &str,
    cpus: &str,
    serial: u64,
    began_ticks: Option<u64>,
) -> CellJournal {
    let header = CellJournalHeader::new(&cell.parse().unwrap(), cpus, serial, began_ticks);
    CellJournal::begin(&folder.join(format!("{cell}.journal")), "boot", header).unwrap()
}

/// A journal as the next program reads it.
pub fn read(path: &Path) -> CellJournal {
    CellJournal::read(path, "boot").unwrap().unwrap()
}

pub fn permit(folder: &Path, mode: u32) {
    std::fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
}
