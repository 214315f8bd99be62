//! The CPUs of a run, looked at before it, while it goes on, and after it.
//!
//! A CPU that is taken away during a run makes the run slower, and says nothing about the command.

use super::{Contestant, TrialError};
use seatmap_os::CpuSet;
use seatmap_os::cpus::Cpus;
use std::cell::Cell;
use std::io;

/// The CPUs that a run needs.
pub(super) struct Needed {
    cpus: CpuSet,
    /// Whether they belong to a cell, which this process is outside of.
    is_cell: bool,
    /// Whether one was found missing at any look.
    was_short: Cell<bool>,
}

impl Needed {
    /// Those of this contestant; all that this process may use where it names none.
    pub(super) fn by(contestant: &Contestant) -> io::Result<Self> {
        let (cpus, is_cell) = match (&contestant.cell, &contestant.cpus) {
            (Some(cell), _) => (cell.clone(), true),
            (None, Some(cpus)) => (cpus.clone(), false),
            (None, None) => (CpuSet::of_thread(0)?, false),
        };
        Ok(Needed { cpus, is_cell, was_short: Cell::new(false) })
    }

    /// Whether one of them is missing now, or was at an earlier look.
    pub(super) fn are_short(&self) -> bool {
        if !self.was_short.get() {
            self.was_short.set(self.missing().is_ok_and(|missing| !missing.is_empty()));
        }
        self.was_short.get()
    }

    /// The error of a run that was short of CPUs.
    pub(super) fn error(&self, contestant: &Contestant) -> TrialError {
        let missing = self.missing().unwrap_or_default();
        let cpus = if missing.is_empty() { self.cpus.clone() } else { missing.clone() };
        TrialError::CpusTaken {
            command: contestant.line(),
            cpus: cpus.to_string(),
            is_back: missing.is_empty(),
        }
    }

    fn missing(&self) -> io::Result<CpuSet> {
        let here = if self.is_cell { Cpus::read()?.online } else { Cpus::read()?.reachable() };
        let here = here.into_iter().collect();
        Ok(self.cpus.without(&here))
    }
}
