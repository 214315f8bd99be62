//! Checks a run's CPUs before, during and after it. A run that lacks one says nothing about the
//! command.

use super::{Contestant, TrialError};
use seatmap_os::cpus::Cpus;
use seatmap_os::holder::Holder;
use seatmap_os::{CpuSet, cpu_list};
use std::cell::{Cell, RefCell};
use std::io;

pub struct Needed {
    pub cpus: CpuSet,
    /// Whether they belong to a cell, outside of which this process is.
    is_cell: bool,
    /// A check failed or found a missing CPU; the cell that held it, if any.
    was_short: RefCell<Option<Holder>>,
    failed: Cell<Option<io::Error>>,
    read: fn() -> io::Result<Cpus>,
}

impl Needed {
    /// The CPUs needed by a command: by default all that this process may use.
    pub fn by(contestant: &Contestant) -> io::Result<Self> {
        let (cpus, is_cell) = match (&contestant.cell, &contestant.cpus) {
            (Some(cell), _) => (cell.clone(), true),
            (None, Some(cpus)) => (cpus.clone(), false),
            (None, None) => (CpuSet::of_thread(0)?, false),
        };
        let was_short = RefCell::default();
        Ok(Needed { cpus, is_cell, was_short, failed: Cell::default(), read: Cpus::read })
    }

    /// Whether a CPU is missing or was at an earlier check. A failed check counts as missing.
    pub fn are_short(&self) -> bool {
        let mut was_short = self.was_short.borrow_mut();
        if was_short.is_none() {
            let missing = self.missing();
            *was_short = (!missing.is_empty()).then(|| self.holder(&missing));
        }
        was_short.is_some()
    }

    pub fn error(&self, contestant: &Contestant) -> TrialError {
        let command = contestant.line();
        let missing = self.missing();
        if let Some(source) = self.failed.take() {
            let named = cpu_list::named(&self.cpus.to_string());
            let what = format!(
                "'{command}': the run is void, because it is unknown whether its {named} stayed \
                 available"
            );
            return TrialError::System(what, source);
        }
        let is_back = missing.is_empty();
        let cpus = if is_back { self.cpus.to_string() } else { missing.to_string() };
        let holder = self.was_short.borrow().clone().unwrap_or_default();
        TrialError::CpusTaken { command, cpus, is_back, holder }
    }

    fn holder(&self, missing: &CpuSet) -> Holder {
        if self.is_cell { Holder::default() } else { Holder::of(missing) }
    }

    fn missing(&self) -> CpuSet {
        let here = match (self.read)() {
            // A cell's CPUs are outside this process's own set.
            Ok(here) if self.is_cell => here.online,
            Ok(here) => here.reachable(),
            Err(error) => {
                self.failed.set(Some(error));
                Vec::new()
            }
        };
        self.cpus.without(&here.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_cpu_check_voids_run() {
        let contestant = Contestant { cpus: Some(CpuSet::single(0)), ..Contestant::default() };
        let read = || Err(io::Error::from_raw_os_error(libc::EINVAL));
        let needed = Needed { read, ..Needed::by(&contestant).unwrap() };
        assert!(needed.are_short());
        let error = needed.error(&contestant).to_string();
        assert!(error.contains("it is unknown whether its CPU 0 stayed available"), "{error}");
    }

    #[test]
    fn returned_cpu_still_voids_run() {
        let contestant = Contestant { cpus: Some(CpuSet::single(0)), ..Contestant::default() };
        let gone = || Ok(Cpus { allowed: vec![1], ..Cpus::default() });
        let back = || Ok(Cpus { allowed: vec![0, 1], ..Cpus::default() });
        let mut needed = Needed { read: gone, ..Needed::by(&contestant).unwrap() };
        assert!(needed.are_short());
        needed.read = back;
        assert!(needed.are_short());
        let error = needed.error(&contestant);
        assert!(matches!(error, TrialError::CpusTaken { is_back: true, .. }), "{error}");
    }
}
