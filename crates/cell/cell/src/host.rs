//! This computer for cells: its files, the records of cells, and the guardian command.

use crate::guardian::LeaseTerm;
use crate::memory::Kept;
use crate::{
    CellClaim, CellError, CellJournal, CellRecord, GuardedHost, Left, Name, RunFolder, undo,
};
use seatmap_os::guardian::GuardianCommand;
use seatmap_os::{CpuSet, Root, boot};
use std::io;

/// This computer for cells.
#[derive(Clone, Debug)]
pub struct CellHost {
    /// The computer's files.
    pub root: Root,
    /// The folder of records and journals.
    pub run: RunFolder,
    /// The current boot's id.
    pub boot_id: String,
    /// The command that starts a guardian.
    pub keeper: GuardianCommand,
}

impl CellHost {
    /// This computer.
    ///
    /// # Errors
    /// The folder of records and journals is unavailable.
    pub fn here(keeper: GuardianCommand) -> Result<Self, CellError> {
        let root = Root::new("/");
        let run = RunFolder::of_user()?;
        Ok(CellHost { boot_id: boot::id(&root), root, run, keeper })
    }

    /// Undoes a cell but keeps its guardian. The caller holds the lock. Removes the record first:
    /// the next command undoes a journal without a record, even on a full disk.
    ///
    /// # Errors
    /// A journal cannot be read or written.
    pub fn dismantle(&self, name: &Name) -> Result<Vec<Left>, CellError> {
        self.run.forget(name)?;
        let (own, mut others): (Vec<CellJournal>, Vec<CellJournal>) =
            self.journals()?.into_iter().partition(|journal| journal.header.cell == *name);
        others.extend(self.journals_elsewhere());
        others.sort_by_key(|journal| journal.header.serial);
        let mut left = Vec::new();
        for journal in own {
            left.extend(undo::undo(&self.root, journal, &mut others)?);
        }
        Ok(left)
    }

    /// The existing cells, oldest first. Without the lock, changing ones are missing.
    ///
    /// # Errors
    /// A journal cannot be read.
    pub fn cells(&self) -> Result<Vec<CellRecord>, CellError> {
        Ok(self.whole()?.iter().filter_map(|name| self.run.record(name)).collect())
    }

    /// Cells with no record in this folder: another folder has it, or it is lost.
    pub fn foreign(&self) -> Vec<CellClaim> {
        CellClaim::all(&self.root)
            .into_iter()
            .filter(|claim| !self.run.lies_at(claim.folder()) || claim.has_lost_its_journal())
            .collect()
    }

    /// Trusted journals of other folders' cells, needed if two have changed the same setting; the
    /// [lock](crate::settings_lock) is common.
    fn journals_elsewhere(&self) -> Vec<CellJournal> {
        self.foreign()
            .iter()
            .filter_map(|claim| CellJournal::read(&claim.journal, &self.boot_id).ok().flatten())
            .collect()
    }

    /// All folders count together, so that the younger of two cells is known.
    ///
    /// # Errors
    /// A journal cannot be read.
    pub fn next_serial(&self) -> Result<u64, CellError> {
        let own = self.journals()?.last().map(|journal| journal.header.serial);
        let elsewhere = self.foreign().last().map(|claim| claim.header.serial);
        Ok(own.max(elsewhere).map_or(1, |last| last.saturating_add(1)))
    }

    /// The CPUs of the cells of [`CellHost::foreign`].
    pub fn claimed(&self) -> CpuSet {
        self.foreign().iter().flat_map(|claim| claim.header.set()).collect()
    }

    /// The cell with this name.
    ///
    /// # Errors
    /// There is none.
    pub fn cell(&self, name: &Name) -> Result<CellRecord, CellError> {
        let found = self.cells()?.into_iter().find(|record| record.name == *name);
        found.ok_or_else(|| CellError::NoSuchCell(name.clone()))
    }
}

impl GuardedHost for CellHost {
    type Error = CellError;

    fn run(&self) -> &RunFolder {
        &self.run
    }

    fn boot_id(&self) -> &str {
        &self.boot_id
    }

    fn guardian(&self) -> &GuardianCommand {
        &self.keeper
    }

    fn term(&self, name: &Name) -> Option<LeaseTerm> {
        let record = self.run.record(name)?;
        Some(LeaseTerm { left_s: record.left_s(), has_memory: record.memory.is_some() })
    }

    fn end(&self, name: &Name) -> Result<Vec<Left>, CellError> {
        let left = self.dismantle(name)?;
        self.run.forget_guardian(name)?;
        Ok(left)
    }

    fn take_memory(&self, name: &Name) -> io::Result<Kept> {
        let none = || io::Error::other("no memory was requested");
        let mut record = self.run.record(name).ok_or_else(none)?;
        let memory = record.memory.as_mut().ok_or_else(none)?;
        let kept = Kept::take(memory)?;
        memory.path = Some(kept.path());
        self.run.remember(&record)?;
        Ok(kept)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::settings;
    use crate::tests::{journal, permit, set};
    use crate::{JournalEntry, SettingChange, SettingKind};

    const SETTING: &str = settings::DEFAULT_AFFINITY;

    pub fn computer() -> (tempfile::TempDir, [CellHost; 2]) {
        let folder = seatmap_needs::tree(&[
            ("/sys/devices/system/cpu/online", "0-7"),
            (SETTING, "ff"),
            (settings::WATCHDOG, "0-7"),
        ]);
        let root = Root::new(folder.path());
        let claims = root.path(crate::settings_lock::FOLDER);
        std::fs::create_dir_all(&claims).unwrap();
        permit(&claims, 0o755);
        let host = |name| {
            let run = RunFolder::new(&folder.path().join(name)).unwrap();
            CellHost {
                root: root.clone(),
                run,
                boot_id: "boot".into(),
                keeper: GuardianCommand(Vec::new()),
            }
        };
        let hosts = ["here", "elsewhere"].map(host);
        (folder, hosts)
    }

    /// Returns the number of a cell that keeps new interrupts off.
    pub fn make(host: &CellHost, name: &str, cpus: &str) -> u64 {
        let serial = host.next_serial().unwrap();
        let mut journal = journal(host.run.path(), name, cpus, serial);
        let old = CpuSet::of_mask(&host.root.read(SETTING).unwrap()).unwrap();
        let new = old.without(&journal.header.set()).to_mask();
        let change =
            SettingChange::of_file(&host.root, SettingKind::CpuMask, SETTING, &new).unwrap();
        journal.append(&[JournalEntry::Change(change.clone()), JournalEntry::Done]).unwrap();
        change.make(&host.root).unwrap();
        CellClaim::of(&journal).write(&host.root);
        serial
    }

    #[test]
    fn isolated_cpus_are_used_only_on_request() {
        let (_folder, hosts) = computer();
        let isolated = hosts[0].root.path("/sys/devices/system/cpu/isolated");
        std::fs::write(isolated, "4-7\n").unwrap();
        assert_eq!(crate::CpuChoice::of_host(&hosts[0]).unwrap().free.to_string(), "0-3");
        let refusal = |cpus: &str| {
            let request = crate::CellRequest {
                name: "a".parse().unwrap(),
                cpus: set(cpus),
                require: crate::CellBackend::Affinity,
                noise_limit: None,
                lease_s: None,
                memory_bytes: 0,
            };
            crate::create::check(&hosts[0], &request).err().map(|error| error.to_string())
        };
        assert_eq!(refusal("4-7"), None);
        assert!(refusal("0-3").unwrap().contains("keep one that is not isolated"));
    }

    #[test]
    fn cells_of_two_folders_are_undone_in_any_order() {
        for order in [[0, 1], [1, 0]] {
            let (_folder, hosts) = computer();
            let serials = [make(&hosts[0], "a", "6-7"), make(&hosts[1], "b", "4-5")];
            if hosts[0].foreign().is_empty() {
                return seatmap_needs::skipped!("no notes can be left on this file system");
            }
            assert_eq!(serials, [1, 2], "the folders count together");
            let names: [Name; 2] = ["a", "b"].map(|name| name.parse().unwrap());
            let mask =
                || CpuSet::of_mask(&hosts[0].root.read(SETTING).unwrap()).unwrap().to_string();
            assert_eq!(mask(), "0-3");
            assert_eq!(hosts[order[0]].dismantle(&names[order[0]]).unwrap(), []);
            assert_eq!(mask(), if order[0] == 0 { "0-3,6,7" } else { "0-5" }, "the other stands");
            assert_eq!(hosts[order[1]].dismantle(&names[order[1]]).unwrap(), []);
            assert_eq!(mask(), "0-7");
        }
    }
}
