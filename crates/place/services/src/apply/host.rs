//! This computer and its applied plans.

use super::PlanJournalError;
use super::seat::USUAL_NAME;
use super::undo::undo;
use crate::ServicesPlan;
use seatmap_cell::guardian::{GuardedHost, LeaseTerm};
use seatmap_cell::{GuardianCommand, Left, Name, RunFolder};
use seatmap_data::document::{Failure, unfit};
use seatmap_data::statistics::words::joined;
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
    pub fn left_s(&self) -> Option<u64> {
        self.ends_s.map(|end| end.saturating_sub(boot::seconds()))
    }
}

impl ServicesHost {
    /// The computer that runs this program.
    ///
    /// # Errors
    /// The folder for journals cannot be created.
    pub fn here(guardian: GuardianCommand) -> Result<Self, Failure> {
        let root = Root::new("/");
        let run = RunFolder::of_user().and_then(|run| RunFolder::new(&run.file(FOLDER)));
        let run = run.map_err(PlanJournalError::from)?;
        Ok(ServicesHost { boot_id: boot::id(&root), root, run, guardian })
    }

    pub(crate) fn record(&self, name: &Name) -> Option<AppliedPlan> {
        serde_json::from_slice(&self.run.read(&format!("{name}.json")).ok()?).ok()
    }

    pub(crate) fn remember(&self, applied: &AppliedPlan) -> Result<(), Failure> {
        let text = seatmap_data::document::written(applied);
        let file = format!("{}.json", applied.name);
        Ok(self.run.replace(&file, text.as_bytes()).map_err(PlanJournalError::from)?)
    }

    /// The applied plans, the oldest first.
    ///
    /// # Errors
    /// A journal cannot be read.
    pub fn standing(&self) -> Result<Vec<AppliedPlan>, Failure> {
        Ok(self.whole()?.iter().filter_map(|name| self.record(name)).collect())
    }

    /// Undoes a plan. Returns the settings that could not be restored.
    ///
    /// # Errors
    /// No such plan is applied, or a journal cannot be read or written.
    pub fn undo(&self, name: Option<&Name>) -> Result<(Name, Vec<Left>), Failure> {
        let _lock = self.run.lock().map_err(PlanJournalError::from)?;
        let mut left = self.recover()?;
        let name = self.plan(name)?.name;
        left.extend(self.leave(&name, Vec::new())?);
        Ok((name, left))
    }

    /// The plan with this name, or the only one.
    ///
    /// # Errors
    /// No such plan is applied.
    pub fn plan(&self, name: Option<&Name>) -> Result<AppliedPlan, Failure> {
        let standing = self.standing()?;
        let found = match (name, &standing[..]) {
            (Some(name), standing) => standing.iter().find(|one| one.name == *name),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        if let Some(found) = found {
            return Ok(found.clone());
        }
        let name = name.map_or_else(|| USUAL_NAME.to_owned(), ToString::to_string);
        let rest = if standing.is_empty() {
            "; 'seatmap services apply PLAN' applies one".to_owned()
        } else {
            let names = standing.iter().map(|one| format!("'{}'", one.name));
            format!("; applied: {}", joined(names, ", "))
        };
        unfit(format!("no plan '{name}' is applied{rest}"))
    }
}

impl GuardedHost for ServicesHost {
    type Error = PlanJournalError;

    fn run(&self) -> &RunFolder {
        &self.run
    }

    fn boot_id(&self) -> &str {
        &self.boot_id
    }

    fn guardian(&self) -> &GuardianCommand {
        &self.guardian
    }

    fn term(&self, name: &Name) -> Option<LeaseTerm> {
        let left_s = self.record(name)?.left_s();
        Some(LeaseTerm { left_s, has_memory: false })
    }

    fn end(&self, name: &Name) -> Result<Vec<Left>, PlanJournalError> {
        let record = self.record(name);
        // First: the next command undoes a journal without a record, even on a full disk.
        self.run.forget(name)?;
        let services = record.map(|record| record.plan.services).unwrap_or_default();
        let mut left = Vec::new();
        for journal in self.journals()?.into_iter().filter(|one| one.header.cell == *name) {
            left.extend(undo(&self.root, journal, &services)?);
        }
        self.run.forget_guardian(name)?;
        Ok(left)
    }
}
