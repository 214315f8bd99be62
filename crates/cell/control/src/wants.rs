//! Which CPUs somebody wants.

use seatmap_os::CpuSet;

/// Which CPUs somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wants {
    /// These.
    Cpus(CpuSet),
    /// So many, whichever suit best.
    Count(usize),
}

impl Wants {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Wants::Cpus(cpus) => cpus.len(),
            Wants::Count(count) => *count,
        }
    }

    /// Whether it is none at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether these CPUs could meet it, with one left for everybody else.
    #[must_use]
    pub fn can_be_met_by(&self, cpus: &CpuSet) -> bool {
        let is_inside = match self {
            Wants::Cpus(own) => own.is_subset(cpus),
            Wants::Count(_) => true,
        };
        is_inside && !self.is_empty() && self.len() < cpus.len()
    }

    /// Which of these CPUs would help.
    #[must_use]
    pub fn of(&self, cpus: &CpuSet) -> CpuSet {
        match self {
            Wants::Cpus(own) => own.within(cpus),
            Wants::Count(_) => cpus.clone(),
        }
    }
}
