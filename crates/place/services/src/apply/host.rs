//! This computer and its applied plans.

use super::undo::undo;
use super::{ApplyError, guard};
use crate::plan::ServicesPlan;
use seatmap_cell::journal::{CellJournal, CellStage};
use seatmap_cell::name::Name;
use seatmap_cell::run_folder::{Lock, RunFolder};
use seatmap_cell::undo::Left;
use seatmap_cell::{CellError, GuardianCommand, posted};
use seatmap_os::{Root, boot};
use serde::{Deserialize, Serialize};

/// A folder below the run folder of cells.
const FOLDER: &str = "services";

/// This computer and its applied plans.
#[derive(Clone, Debug)]
pub struct ServicesHost {
    /// The files of the computer.
    pub root: Root,
    /// The folder with the journals of plans.
    pub run: RunFolder,
    /// The id of the current boot.
    pub boot_id: String,
    /// The command for a guardian; the plan's name is appended.
    pub guardian: GuardianCommand,
}

/// An applied plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppliedPlan {
    /// Its name.
    pub name: Name,
    /// The plan.
    pub plan: ServicesPlan,
    /// When it was applied, in clock ticks since boot.
    pub began_ticks: Option<u64>,
    /// When its time is over, in seconds since boot; null if it is kept.
    pub ends_s: Option<u64>,
}

impl AppliedPlan {
    /// Seconds until its time is over; `None` if it is kept.
    #[must_use]
    pub fn left_s(&self) -> Option<u64> {
        self.ends_s.map(|end| end.saturating_sub(boot::seconds()))
    }
}

impl ServicesHost {
    /// The computer that runs this program.
    ///
    /// # Errors
    /// The folder for journals cannot be created.
    pub fn here(guardian: GuardianCommand) -> Result<Self, ApplyError> {
        let root = Root::new("/");
        let run = RunFolder::of_user()
            .and_then(|run| RunFolder::new(&run.file(FOLDER)))
            .map_err(ApplyError::Remembering)?;
        Ok(ServicesHost { boot_id: boot::id(&root), root, run, guardian })
    }

    pub(crate) fn journals(&self) -> Result<Vec<CellJournal>, ApplyError> {
        self.run.journals(&self.boot_id).map_err(ApplyError::Remembering)
    }

    pub(crate) fn record(&self, name: &Name) -> Option<AppliedPlan> {
        serde_json::from_slice(&self.run.read(&format!("{name}.json")).ok()?).ok()
    }

    pub(crate) fn remember(&self, applied: &AppliedPlan) -> Result<(), ApplyError> {
        let text = seatmap_data::document::written(applied);
        self.run
            .replace(&format!("{}.json", applied.name), text.as_bytes())
            .map_err(ApplyError::Remembering)
    }

    /// Whether a plan was applied completely, and is not being undone.
    pub(crate) fn stands(&self, name: &Name) -> bool {
        self.journals().is_ok_and(|journals| {
            journals
                .iter()
                .any(|journal| journal.header.cell == *name && journal.stage == CellStage::Standing)
        })
    }

    /// The applied plans, the oldest first.
    ///
    /// # Errors
    /// A journal cannot be read.
    pub fn standing(&self) -> Result<Vec<AppliedPlan>, ApplyError> {
        let journals = self.journals()?;
        let whole = journals.iter().filter(|journal| journal.stage == CellStage::Standing);
        Ok(whole.filter_map(|journal| self.record(&journal.header.cell)).collect())
    }

    /// Finishes the work of a dead program, and ends plans whose time is over and whose guardian
    /// died. Every command starts with it. Returns the settings that could not be restored.
    ///
    /// # Errors
    /// A journal cannot be read or written.
    pub fn take_over(&self) -> Result<Vec<Left>, ApplyError> {
        let _lock = self.lock()?;
        self.recover()
    }

    pub(crate) fn lock(&self) -> Result<Lock, ApplyError> {
        self.run.lock().map_err(ApplyError::Remembering)
    }

    /// [`ServicesHost::take_over`] with the lock held.
    pub(crate) fn recover(&self) -> Result<Vec<Left>, ApplyError> {
        self.run.clear(&self.boot_id).map_err(ApplyError::Remembering)?;
        let mut left = Vec::new();
        for journal in self.journals()?.into_iter().rev() {
            let name = journal.header.cell.clone();
            let record = self.record(&name).filter(|_| journal.stage == CellStage::Standing);
            match record.and_then(|record| {
                record.left_s().map_or(Some(None), |left| (left > 0).then_some(Some(left)))
            }) {
                None => left.extend(self.end(journal)?),
                // Its time is not over.
                Some(Some(_)) if self.run.guardian(&name).is_none() => guard::adopt(self, &name),
                Some(_) => {}
            }
        }
        Ok(left)
    }

    pub(crate) fn end(&self, journal: CellJournal) -> Result<Vec<Left>, ApplyError> {
        let name = journal.header.cell.clone();
        let record = self.record(&name);
        // The record goes first: the next command undoes a journal without one, even if a full disk
        // prevents any note.
        self.run.forget(&name).map_err(ApplyError::Remembering)?;
        let services = record.map(|record| record.plan.services).unwrap_or_default();
        let left = undo(&self.root, journal, &services).map_err(ApplyError::Remembering)?;
        self.run.forget_guardian(&name).map_err(ApplyError::Remembering)?;
        Ok(left)
    }

    /// Undoes a plan. Returns the settings that could not be restored.
    ///
    /// # Errors
    /// [`ApplyError::NoSuchPlan`], or a journal cannot be read or written.
    pub fn undo(&self, name: Option<&Name>) -> Result<(Name, Vec<Left>), ApplyError> {
        let _lock = self.lock()?;
        let mut left = self.recover()?;
        let name = self.chosen(name)?;
        posted::relieve(&self.run, &name);
        // Without a guardian, the next command continues.
        let posted = posted::post(&self.guardian, &name).ok();
        for journal in self.journals()? {
            if journal.header.cell == name {
                left.extend(self.end(journal)?);
            }
        }
        let left = match posted {
            Some(posted) => posted.dismiss_with(left),
            None => left,
        };
        Ok((name, left))
    }

    /// `None` means the only plan.
    pub(crate) fn chosen(&self, name: Option<&Name>) -> Result<Name, ApplyError> {
        let standing: Vec<Name> = self.standing()?.into_iter().map(|one| one.name).collect();
        match (name, &standing[..]) {
            (Some(name), standing) if standing.contains(name) => Ok(name.clone()),
            (None, [only]) => Ok(only.clone()),
            (name, _) => {
                let usual = Name::try_from(super::seat::USUAL_NAME.to_owned())?;
                Err(ApplyError::NoSuchPlan { name: name.cloned().unwrap_or(usual), standing })
            }
        }
    }

    /// The plan with this name, or the only one.
    ///
    /// # Errors
    /// [`ApplyError::NoSuchPlan`].
    pub fn plan(&self, name: Option<&Name>) -> Result<AppliedPlan, ApplyError> {
        let name = self.chosen(name)?;
        let standing = self.standing()?.into_iter().find(|one| one.name == name);
        standing.ok_or(ApplyError::NoSuchPlan { name, standing: Vec::new() })
    }

    pub(crate) fn post(&self, name: &Name) -> Result<posted::PostedGuardian, CellError> {
        posted::post(&self.guardian, name)
    }
}
