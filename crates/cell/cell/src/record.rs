//! A cell's record, which is stored and shown.

use crate::memory::CellMemory;
use crate::{CellBackend, Name};
use seatmap_os::{CpuSet, boot};
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-cell/1";

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CellState {
    /// The cell is as created.
    Ready,
    /// The cell has faults; `verify` lists them.
    Damaged,
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellRecord {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The cell's name.
    pub name: Name,
    /// Its CPUs by OS index, ascending.
    pub cpus: Vec<u32>,
    /// The level to which it is closed.
    pub backend: CellBackend,
    /// Why it is not closed further: one sentence for each level that failed.
    pub degraded: Vec<String>,
    /// Time stolen from a busy loop on its CPUs before its creation, in percent; null if not
    /// measured.
    pub noise_before: Option<f64>,
    /// Time stolen inside the cell just after its creation, in percent; null if not measured.
    pub noise_after: Option<f64>,
    /// Its state.
    pub state: CellState,
    /// The folder of its control group; null without one.
    pub group: Option<String>,
    /// Interrupts that still arrive on its CPUs because they could not be moved, by number.
    pub irqs_left: Vec<String>,
    /// Kernel threads bound to its CPUs at its creation.
    pub kernel_threads_left: usize,
    /// Other threads that could run on its CPUs at its creation.
    pub threads_left: usize,
    /// The processes of those threads, by number and name.
    #[serde(default)]
    pub processes_left: Vec<String>,
    /// Its memory; null without any.
    pub memory: Option<CellMemory>,
    /// When its lease expires, in seconds after the boot; null without a lease.
    pub expires_s: Option<u64>,
}

impl CellRecord {
    /// Its CPUs.
    pub fn set(&self) -> CpuSet {
        self.cpus.iter().copied().collect()
    }

    /// The record with its state set by these faults.
    pub fn judged(mut self, faults: &[String]) -> Self {
        self.state = if faults.is_empty() { CellState::Ready } else { CellState::Damaged };
        self
    }

    /// Seconds until its lease expires, at least 0; `None` without a lease.
    pub fn left_s(&self) -> Option<u64> {
        self.expires_s.map(|end| end.saturating_sub(boot::seconds()))
    }
}

#[cfg(test)]
mod tests;
