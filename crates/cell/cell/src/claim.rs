//! A cell's second record, independent of its run folder.
//!
//! Run folders can differ, or be deleted while a cell exists. So each cell's CPUs, journal path and
//! changes are also in an extended attribute of the folder where control groups are mounted: it is
//! root's, disappears at reboot, and has the common lock.

use crate::settings_lock::FOLDER;
use crate::{CellJournal, CellJournalHeader, JournalEntry, Name, SettingChange, SettingKind};
use seatmap_os::{CpuSet, FileError, Root, attribute, task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const PREFIX: &str = "seatmap.claim.";

/// A cell's second record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellClaim {
    /// The journal's path.
    pub journal: PathBuf,
    /// The journal's first line.
    pub header: CellJournalHeader,
    /// The most frequent change of masks, old and new; such threads are not listed.
    pub crowd: Option<(String, String)>,
    /// All other changes.
    pub changes: Vec<SettingChange>,
    /// Whether `changes` is complete; if not, interrupts and threads did not fit.
    pub is_whole: bool,
}

impl CellClaim {
    /// The record of a journal.
    pub fn of(journal: &CellJournal) -> Self {
        // A cpuset narrows every thread; only the few chosen masks are listed.
        let crowd = if journal.has_group() { None } else { crowd(&journal.changes) };
        let mut changes = journal.changes.clone();
        if let Some((old, new)) = &crowd {
            changes.retain(|change| {
                change.what != SettingKind::Affinity || change.old != *old || change.new != *new
            });
        }
        let header = journal.header.clone();
        CellClaim { journal: journal.path.clone(), header, crowd, changes, is_whole: true }
    }

    /// Writes the record. If this fails, the cell has none; the journal is complete.
    pub fn write(mut self, root: &Root) {
        // JSON cannot represent this path, so the journal would seem lost.
        if self.journal.to_str().is_none() || self.write_whole(root).is_ok() {
            return;
        }
        self.is_whole = false;
        self.changes.retain(|change| {
            change.what != SettingKind::Affinity && !change.path.ends_with("/smp_affinity_list")
        });
        if self.write_whole(root).is_err() {
            // An older record would be incomplete.
            CellClaim::forget(root, &self.header.cell, &self.journal);
        }
    }

    fn write_whole(&self, root: &Root) -> io::Result<()> {
        attribute::set(&root.path(FOLDER), &name(&self.header.cell), &serde_json::to_vec(self)?)
    }

    /// The records that only root or this user can have written.
    pub fn all(root: &Root) -> Vec<CellClaim> {
        let folder = root.path(FOLDER);
        if !is_trusted(&folder) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for cell in attribute::names(&folder, PREFIX).iter().flat_map(|cell| cell.parse::<Name>()) {
            let name = name(&cell);
            let records = attribute::get(&folder, &name);
            found.extend(records.filter_map(|bytes| parsed(&cell, &bytes)));
        }
        found.sort_by_key(|claim| claim.header.serial);
        found
    }

    /// Removes a cell's record if it belongs to this journal.
    pub fn forget(root: &Root, cell: &Name, journal: &Path) {
        attribute::remove(&root.path(FOLDER), &name(cell), |bytes: &[u8]| {
            parsed(cell, bytes).is_some_and(|claim| claim.journal == journal)
        });
    }

    pub(crate) fn renew(root: &Root, journals: &[CellJournal]) {
        let all = CellClaim::all(root);
        journals
            .iter()
            .filter(|journal| all.iter().any(|claim| claim.journal == journal.path))
            .for_each(|journal| CellClaim::of(journal).write(root));
    }

    /// The cell's run folder.
    pub fn folder(&self) -> &Path {
        self.journal.parent().unwrap_or(Path::new("/"))
    }

    /// Whether the journal no longer exists.
    pub fn has_lost_its_journal(&self) -> bool {
        std::fs::symlink_metadata(&self.journal)
            .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Rewrites the journal from this record, possibly in another folder.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn rewrite(&self, root: &Root, path: &Path, boot_id: &str) -> io::Result<()> {
        // First, because an incomplete journal would look complete, and be removed with this
        // record.
        let masks = self.crowd.as_ref().map(|crowd| self.masks(root, crowd)).transpose();
        let masks = masks.map_err(io::Error::other)?.unwrap_or_default();
        let changes = [masks, self.changes.clone()].concat();
        let mut journal = CellJournal::begin(path, boot_id, self.header.clone())?;
        let written = journal.note(&changes).and_then(|()| journal.append(&[JournalEntry::Done]));
        if written.is_err() {
            let _ = journal.remove();
        }
        written
    }

    /// Changes of unlisted, older threads with the crowd's mask.
    fn masks(
        &self,
        root: &Root,
        (old, new): &(String, String),
    ) -> Result<Vec<SettingChange>, FileError> {
        let narrow = CpuSet::of_list(new);
        let found = task::all(root)?
            .into_iter()
            .filter(|task| self.may_have_narrowed(task) && task.cpus() == narrow);
        Ok(found
            .map(|task| SettingChange::of_mask(task.tid, task.started_ticks, old, new))
            // Listed threads have other masks.
            .filter(|change| self.changes.iter().all(|noted| noted.path != change.path))
            .collect())
    }

    fn may_have_narrowed(&self, task: &task::ThreadStat) -> bool {
        !task.is_bound
            && !task.is_spared(&[])
            && self.header.began_ticks.is_some_and(|began| task.started_ticks < began)
    }
}

/// Whether no other user can write a record there.
fn is_trusted(folder: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    std::fs::metadata(folder)
        .is_ok_and(|found| [0, own].contains(&found.uid()) && found.mode() & 0o022 == 0)
}

fn name(cell: &Name) -> String {
    format!("{PREFIX}{cell}")
}

fn parsed(cell: &Name, bytes: &[u8]) -> Option<CellClaim> {
    serde_json::from_slice::<CellClaim>(bytes).ok().filter(|claim| claim.header.cell == *cell)
}

fn crowd(changes: &[SettingChange]) -> Option<(String, String)> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.is_new_mask()) {
        *counts.entry((&change.old, &change.new)).or_default() += 1;
    }
    let ((old, new), _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some((old.to_owned(), new.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{journal_since, permit, read};

    /// `None` if the file system has no attributes.
    fn first(root: &Root) -> Option<CellClaim> {
        let first = CellClaim::all(root).into_iter().next();
        if first.is_none() {
            seatmap_needs::skip("no extended attributes in the folder for temporary files");
        }
        first
    }

    fn computer() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::create_dir_all(root.path(FOLDER)).unwrap();
        permit(&root.path(FOLDER), 0o755);
        (folder, root)
    }

    fn change(what: SettingKind, path: &str, old: &str, new: &str) -> SettingChange {
        SettingChange { started_ticks: Some(3), ..SettingChange::new(what, path, old, new) }
    }

    fn journal(folder: &Path) -> CellJournal {
        let mut journal = journal_since(folder, "quiet", "1", 1, Some(9));
        let crowd =
            (10..13).map(|tid| change(SettingKind::Affinity, &format!("/proc/{tid}"), "0-1", "0"));
        let others = [
            change(SettingKind::Affinity, "/proc/20", "1", "0"),
            change(SettingKind::Affinity, "/proc/21", "0", "0"),
            change(SettingKind::CpuMask, "/proc/irq/default_smp_affinity", "3", "1"),
        ];
        journal.note(&crowd.chain(others).collect::<Vec<_>>()).unwrap();
        journal
    }

    #[test]
    fn claim_is_found_until_removed() {
        let (folder, root) = computer();
        let journal = journal(folder.path());
        let claim = CellClaim::of(&journal);
        assert_eq!(claim.crowd, Some(("0-1".to_owned(), "0".to_owned())));
        let paths: Vec<&str> = claim.changes.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(paths, ["/proc/20", "/proc/21", "/proc/irq/default_smp_affinity"]);
        claim.clone().write(&root);
        let Some(found) = first(&root) else { return };
        assert_eq!(found, claim);
        assert!(!claim.has_lost_its_journal());
        let path = journal.path.clone();
        let cell = claim.header.cell.clone();
        journal.remove().unwrap();
        assert!(CellClaim::all(&root)[0].has_lost_its_journal());
        CellClaim::forget(&root, &cell, Path::new("/another"));
        assert_eq!(CellClaim::all(&root).len(), 1, "it is another cell's");
        CellClaim::forget(&root, &cell, &path);
        assert_eq!(CellClaim::all(&root), []);
    }

    #[test]
    fn threads_of_a_control_group_cell_are_listed_individually() {
        let (folder, root) = computer();
        let mut journal = journal(folder.path());
        let group = SettingChange::folder("/sys/fs/cgroup/cpuset/seatmap.quiet");
        journal.note(&[group]).unwrap();
        let claim = CellClaim::of(&journal);
        assert_eq!((&claim.crowd, &claim.changes), (&None, &journal.changes));
        let path = folder.path().join("again.journal");
        claim.rewrite(&root, &path, "boot").unwrap();
        assert_eq!(read(&path).changes, journal.changes, "and no other thread");
    }

    #[test]
    fn oversized_claim_is_truncated_and_marked() {
        let (folder, root) = computer();
        let mut claim = CellClaim::of(&journal(folder.path()));
        claim.changes.extend((0..2000).map(|irq| {
            change(SettingKind::Cpus, &format!("/proc/irq/{irq}/smp_affinity_list"), "0-1", "0")
        }));
        claim.write(&root);
        let Some(found) = first(&root) else { return };
        assert_eq!((found.is_whole, found.changes.len()), (false, 1));
    }

    #[test]
    fn claims_in_a_writable_folder_are_ignored() {
        let (folder, root) = computer();
        CellClaim::of(&journal(folder.path())).write(&root);
        permit(&root.path(FOLDER), 0o777);
        assert_eq!(CellClaim::all(&root), []);
    }

    #[test]
    fn claim_rewrites_its_journal() {
        let (folder, root) = computer();
        let journal = journal(folder.path());
        let claim = CellClaim::of(&journal);
        let path = folder.path().join("again.journal");
        claim.rewrite(&root, &path, "boot").unwrap();
        let again = read(&path);
        assert_eq!((&again.header, &again.changes), (&journal.header, &claim.changes));
        assert!(claim.rewrite(&root, &path, "boot").is_err(), "another one is not written over");
        assert!(path.exists());
    }

    #[test]
    fn incomplete_journal_is_not_written() {
        let (folder, root) = computer();
        let claim = CellClaim::of(&journal(folder.path()));
        // The threads cannot be listed.
        std::fs::write(root.path("/proc"), "").unwrap();
        let path = folder.path().join("again.journal");
        assert!(claim.rewrite(&root, &path, "boot").is_err());
        assert!(!path.exists(), "it would be undone as if it were whole");
    }
}
