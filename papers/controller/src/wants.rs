//! The CPUs that a request needs.

use seatmap_os::CpuSet;

/// The CPUs that a request needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wants {
    /// These CPUs.
    Cpus(CpuSet),
    /// The best CPUs, this many.
    Count(usize),
}

impl Wants {
    /// Their number.
    pub fn len(&self) -> usize {
        match self {
            Wants::Cpus(cpus) => cpus.len(),
            Wants::Count(count) => *count,
        }
    }

    /// Whether this is zero CPUs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether these CPUs suffice, with one left for the rest of the system.
    pub fn can_be_met_by(&self, cpus: &CpuSet) -> bool {
        let is_inside = match self {
            Wants::Cpus(own) => own.is_subset(cpus),
            Wants::Count(_) => true,
        };
        is_inside && !self.is_empty() && self.len() < cpus.len()
    }

    /// The useful CPUs among these.
    pub fn of(&self, cpus: &CpuSet) -> CpuSet {
        match self {
            Wants::Cpus(own) => own.within(cpus),
            Wants::Count(_) => cpus.clone(),
        }
    }
}
