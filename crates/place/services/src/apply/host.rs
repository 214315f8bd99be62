//! This computer, with the plans that stand.

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

/// The folder of plans below the run folder of cells: a journal there is a plan's.
const FOLDER: &str = "services";

/// This computer, with the plans that stand.
#[derive(Clone, Debug)]
pub struct ServicesHost {
    /// The files of the computer.
    pub root: Root,
    /// The folder with the journals of plans.
    pub run: RunFolder,
    /// The id of the current boot.
    pub boot_id: String,
    /// The command that becomes a plan's guardian, with the plan's name after it.
    pub guardian: GuardianCommand,
}

/// A plan that stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppliedPlan {
    /// Its name.
    pub name: Name,
    /// The plan.
    pub plan: ServicesPlan,
    /// When it was applied, in clock ticks after the boot.
    pub began_ticks: Option<u64>,
    /// When its time is over, in seconds after the boot; null where it is kept.
    pub ends_s: Option<u64>,
}

impl AppliedPlan {
    /// Seconds until its time is over, 0 when it is; `None` where it is kept.
    #[must_use]
    pub fn left_s(&self) -> Option<u64> {
        self.ends_s.map(|end| end.saturating_sub(boot::seconds()))
    }
}

impl ServicesHost {
    /// The computer that this program runs on.
    ///
    /// # Errors
    /// The folder for journals cannot be made.
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

    /// Whether a plan was applied whole, and no program has begun to undo it.
    pub(crate) fn stands(&self, name: &Name) -> bool {
        self.journals().is_ok_and(|journals| {
            journals
                .iter()
                .any(|journal| journal.header.cell == *name && journal.stage == CellStage::Standing)
        })
    }

    /// The plans that stand, the oldest first.
    ///
    /// # Errors
    /// A journal cannot be read.
    pub fn standing(&self) -> Result<Vec<AppliedPlan>, ApplyError> {
        let journals = self.journals()?;
        let whole = journals.iter().filter(|journal| journal.stage == CellStage::Standing);
        Ok(whole.filter_map(|journal| self.record(&journal.header.cell)).collect())
    }

    /// Finishes what a program that died left unfinished, and ends plans whose time is over and
    /// whose guardian died. Every command begins with it. Returns the settings that could not be
    /// put back.
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

    /// As [`ServicesHost::take_over`], with the lock held.
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
                // Its guardian died, and its time goes on.
                Some(Some(_)) if self.run.guardian(&name).is_none() => guard::adopt(self, &name),
                Some(_) => {}
            }
        }
        Ok(left)
    }

    /// Takes one plan's sets back, with the lock held.
    pub(crate) fn end(&self, journal: CellJournal) -> Result<Vec<Left>, ApplyError> {
        let name = journal.header.cell.clone();
        let record = self.record(&name);
        // The record goes first: a journal without one is undone by the next command, also where
        // there is no room to note that this was begun.
        self.run.forget(&name).map_err(ApplyError::Remembering)?;
        let services = record.map(|record| record.plan.services).unwrap_or_default();
        let left = undo(&self.root, journal, &services).map_err(ApplyError::Remembering)?;
        self.run.forget_guardian(&name).map_err(ApplyError::Remembering)?;
        Ok(left)
    }

    /// Takes the sets of a plan back. Returns the settings that could not be put back.
    ///
    /// # Errors
    /// [`ApplyError::NoSuchPlan`], or a journal cannot be read or written.
    pub fn undo(&self, name: Option<&Name>) -> Result<(Name, Vec<Left>), ApplyError> {
        let _lock = self.lock()?;
        let mut left = self.recover()?;
        let name = self.chosen(name)?;
        posted::relieve(&self.run, &name);
        // Without a guardian the journal is still there, and the next command goes on.
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

    /// The plan of this name, or the only one where no name is given.
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

    /// The plan of this name, or the only one where no name is given.
    ///
    /// # Errors
    /// [`ApplyError::NoSuchPlan`].
    pub fn plan(&self, name: Option<&Name>) -> Result<AppliedPlan, ApplyError> {
        let name = self.chosen(name)?;
        let standing = self.standing()?.into_iter().find(|one| one.name == name);
        standing.ok_or(ApplyError::NoSuchPlan { name, standing: Vec::new() })
    }

    /// Posts a guardian for a plan.
    pub(crate) fn post(&self, name: &Name) -> Result<posted::PostedGuardian, CellError> {
        posted::post(&self.guardian, name)
    }
}
