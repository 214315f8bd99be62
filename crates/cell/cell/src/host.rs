//! This computer as cells see it: its files, what is remembered, and who is posted to guard a cell.

use crate::claim::Claim;
use crate::error::CellError;
use crate::guardian::{self, Keeper};
use crate::journal::{Journal, Stage};
use crate::name::Name;
use crate::record::Record;
use crate::run_folder::RunFolder;
use crate::undo::{self, Left};
use seatmap_os::CpuSet;
use seatmap_os::boot;
use seatmap_os::root::Root;
use std::io;

/// This computer as cells see it.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its files.
    pub root: Root,
    /// What is remembered.
    pub run: RunFolder,
    /// The boot.
    pub boot_id: String,
    /// Who guards cells.
    pub keeper: Keeper,
}

impl Host {
    /// This computer.
    ///
    /// # Errors
    /// There is no folder to remember anything in.
    pub fn here(keeper: Keeper) -> Result<Self, CellError> {
        let root = Root::new("/");
        let run = RunFolder::of_user().map_err(CellError::remembering)?;
        Ok(Host { boot_id: boot::id(&root), root, run, keeper })
    }

    /// The journals, the oldest first.
    pub(crate) fn journals(&self) -> Result<Vec<Journal>, CellError> {
        self.run.journals(&self.boot_id).map_err(CellError::remembering)
    }

    /// Whether a cell was made whole, and nobody has begun to undo it.
    pub(crate) fn stands(&self, name: &Name) -> bool {
        let is_it = |journal: &Journal| journal.header.cell == *name && journal.stage == Stage::Standing;
        self.journals().is_ok_and(|journals| journals.iter().any(is_it))
    }

    /// Undoes what somebody began and did not finish, ends leases that nobody guarded, and posts guardians where they are
    /// missing. To be called with the lock held. What could not be put back is returned.
    ///
    /// # Errors
    /// A journal cannot be read or written.
    pub fn recover(&self) -> Result<Vec<Left>, CellError> {
        self.run.clear(&self.boot_id).map_err(CellError::remembering)?;
        let mut left = Vec::new();
        for journal in self.journals()?.into_iter().rev() {
            let name = journal.header.cell.clone();
            let record = self.run.record(&name);
            let is_whole = journal.stage == Stage::Standing && record.is_some();
            let has_expired = record.as_ref().and_then(Record::left_s) == Some(0);
            if !is_whole || has_expired {
                left.extend(self.end(&name)?);
            } else if let Some(record) = record.filter(|_| self.run.guardian(&name).is_none())
                && record.needs_guardian()
            {
                guardian::adopt(self, &record);
            }
        }
        Ok(left)
    }

    /// Undoes a cell and forgets it, and its guardian. To be called with the lock held.
    ///
    /// # Errors
    /// A journal cannot be read or written.
    pub(crate) fn end(&self, name: &Name) -> Result<Vec<Left>, CellError> {
        let left = self.dismantle(name)?;
        self.run.forget_guardian(name).map_err(CellError::remembering)?;
        Ok(left)
    }

    /// Undoes what was done for a cell, whose guardian stays. To be called with the lock held. The record goes first: a
    /// journal without one is undone by whoever comes next, also where there was no room to note that this was begun.
    ///
    /// # Errors
    /// A journal cannot be read or written.
    pub(crate) fn dismantle(&self, name: &Name) -> Result<Vec<Left>, CellError> {
        self.run.forget(name).map_err(CellError::remembering)?;
        let (own, mut others): (Vec<Journal>, Vec<Journal>) =
            self.journals()?.into_iter().partition(|journal| journal.header.cell == *name);
        let mut left = Vec::new();
        let failed = |error: io::Error| CellError::remembering(error);
        for journal in own {
            left.extend(undo::undo(&self.root, journal, &mut others).map_err(failed)?);
        }
        Ok(left)
    }

    /// The cells that stand, by age. Without the lock, those that are being made or undone are not among them.
    ///
    /// # Errors
    /// A journal cannot be read.
    pub fn cells(&self) -> Result<Vec<Record>, CellError> {
        let journals = self.journals()?;
        let standing = journals.iter().filter(|journal| journal.stage == Stage::Standing);
        Ok(standing.filter_map(|journal| self.run.record(&journal.header.cell)).collect())
    }

    /// The cells that this folder does not remember: another one does, or nobody any more.
    #[must_use]
    pub fn foreign(&self) -> Vec<Claim> {
        let is_own = |claim: &Claim| claim.folder() == self.run.path() && !claim.has_lost_its_journal();
        Claim::all(&self.root).into_iter().filter(|claim| !is_own(claim)).collect()
    }

    /// The CPUs of these cells.
    #[must_use]
    pub fn claimed(&self) -> CpuSet {
        self.foreign().iter().flat_map(|claim| claim.cpus()).collect()
    }

    /// The cell of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn cell(&self, name: &Name) -> Result<Record, CellError> {
        let found = self.cells()?.into_iter().find(|record| record.name == *name);
        found.ok_or_else(|| CellError::NoSuchCell(name.clone()))
    }
}
