//! The host during changes for one cell.

use crate::{CellJournal, JournalEntry, SettingChange, SettingKind, fault, settings};
use seatmap_data::invariant;
use seatmap_os::{CpuSet, FileError, Root, Tid};
use std::io;

/// The host with one cell's journal.
pub struct Site<'a> {
    /// The host's files.
    pub root: &'a Root,
    /// The cell's journal.
    pub journal: &'a mut CellJournal,
    /// The cell's CPUs.
    pub cell: CpuSet,
    /// All online CPUs outside cells.
    pub rest: CpuSet,
    /// Processes that must not be moved: the creator and its guardian.
    pub spared: Vec<Tid>,
}

/// Why a change failed.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The host refused a change.
    #[error(transparent)]
    File(#[from] FileError),
    /// The journal could not be written, so no change is allowed.
    #[error("cannot write the journal")]
    Journal(#[source] io::Error),
}

impl Site<'_> {
    /// Records changes, which may then be made.
    ///
    /// # Errors
    /// [`SiteError::Journal`]: none may be made.
    pub fn note(&mut self, changes: &[SettingChange]) -> Result<(), SiteError> {
        self.journal.note(changes).map_err(SiteError::Journal)?;
        // An unrecorded change would outlive the cell.
        invariant!(
            self.journal.changes.ends_with(changes),
            "site",
            "cell {} makes changes that its journal does not end with: {changes:?}",
            self.journal.header.cell
        );
        Ok(())
    }

    /// Makes a recorded change.
    ///
    /// # Errors
    /// The host's.
    pub fn make(&self, change: &SettingChange) -> Result<(), FileError> {
        let made = change.make(self.root);
        fault::point();
        made
    }

    /// Records and makes a change.
    ///
    /// # Errors
    /// [`SiteError`].
    pub fn change(&mut self, change: SettingChange) -> Result<(), SiteError> {
        self.note(std::slice::from_ref(&change))?;
        Ok(self.make(&change)?)
    }

    /// Records and makes several changes. Returns the refused ones.
    ///
    /// # Errors
    /// [`SiteError::Journal`]: none was made.
    pub fn try_all(
        &mut self,
        changes: Vec<SettingChange>,
    ) -> Result<Vec<SettingChange>, SiteError> {
        self.note(&changes)?;
        Ok(changes
            .into_iter()
            .filter(|change| self.make(change).is_err_and(|error| !error.is_absent()))
            .collect())
    }

    /// Records that nothing was added after all.
    ///
    /// # Errors
    /// [`SiteError::Journal`].
    pub fn forget_count(&mut self, change: &SettingChange) -> Result<(), SiteError> {
        let SettingChange { path, old, .. } = change.clone();
        let line = JournalEntry::Rebase { path, new: old.clone(), old };
        self.journal.append(&[line]).map_err(SiteError::Journal)
    }

    /// Writes a file of the cell's own group, without the journal because the group will be
    /// removed.
    ///
    /// # Errors
    /// The host's.
    pub fn furnish(&self, path: &str, value: &str) -> Result<(), FileError> {
        let written = self.root.write(path, value);
        fault::point();
        written
    }

    /// The change that removes the cell's CPUs from a CPU file; `None` if unnecessary or
    /// impossible.
    pub fn keep_out(&self, what: SettingKind, path: &str) -> Option<SettingChange> {
        let old = settings::value(self.root, path).ok()?;
        what.set(&old).filter(|found| found.meets(&self.cell))?;
        let new = what.narrowed(&old, &self.cell, &self.rest)?;
        Some(SettingChange::new(what, path, old, new))
    }
}
