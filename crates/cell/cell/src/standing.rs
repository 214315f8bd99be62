//! The existing cells of this computer, read-only.

use crate::{CellClaim, CellHost, GuardianCommand, RunFolder};
use seatmap_os::{CpuSet, Root, boot};
use std::collections::BTreeMap;

/// The CPUs of each existing cell by name: root's cells of all run folders and this user's own, as
/// far as readable.
pub fn standing(root: &Root) -> BTreeMap<String, CpuSet> {
    let claims = CellClaim::all(root).into_iter().filter(|claim| !claim.has_lost_its_journal());
    let mut cells: BTreeMap<String, CpuSet> =
        claims.map(|claim| (claim.header.cell.to_string(), claim.header.set())).collect();
    if let Some(run) = RunFolder::existing().filter(|_| root.is_this_computer()) {
        let keeper = GuardianCommand(Vec::new());
        let host = CellHost { root: root.clone(), run, boot_id: boot::id(root), keeper };
        let own = host.cells().unwrap_or_default();
        cells.extend(own.into_iter().map(|record| (record.name.to_string(), record.set())));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computer_without_cells_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(standing(&Root::new(folder.path())).is_empty());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is created");
    }
}
