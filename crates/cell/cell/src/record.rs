//! The record of a cell: the facts that are kept on file and shown.

use crate::backend::CellBackend;
use crate::memory::CellMemory;
use crate::name::Name;
use seatmap_os::CpuSet;
use seatmap_os::boot;
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-cell/1";

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CellState {
    /// The cell is as it was made.
    Ready,
    /// Something is wrong with it; `verify` says what.
    Damaged,
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellRecord {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The name of the cell.
    pub name: Name,
    /// Its CPUs by OS index, ascending.
    pub cpus: Vec<u32>,
    /// The backend: how far it is closed.
    pub backend: CellBackend,
    /// Why it is not closed further, a sentence a way that failed.
    pub degraded: Vec<String>,
    /// Time stolen from a busy loop on its CPUs before it was made, in percent; null where it was
    /// not measured.
    pub noise_before: Option<f64>,
    /// Time stolen inside the cell just after it was made, in percent; null where it was not
    /// measured.
    pub noise_after: Option<f64>,
    /// The state of the cell.
    pub state: CellState,
    /// The folder of its control group; null where it has none.
    pub group: Option<String>,
    /// Interrupts that go to its CPUs and could not be moved away, by number.
    pub irqs_left: Vec<String>,
    /// The kernel's own threads that were bound to its CPUs when it was made.
    pub kernel_threads_left: usize,
    /// Other threads that could still run on its CPUs then.
    pub threads_left: usize,
    /// The processes that these belong to, by number and name.
    #[serde(default)]
    pub processes_left: Vec<String>,
    /// Its memory; null where none was asked for.
    pub memory: Option<CellMemory>,
    /// When its lease ends, in seconds after the boot; null where it has none.
    pub expires_s: Option<u64>,
}

impl CellRecord {
    /// Its CPUs.
    #[must_use]
    pub fn set(&self) -> CpuSet {
        self.cpus.iter().copied().collect()
    }

    /// The same record with the state that these faults say.
    #[must_use]
    pub fn judged(mut self, faults: &[String]) -> Self {
        self.state = if faults.is_empty() { CellState::Ready } else { CellState::Damaged };
        self
    }

    /// Seconds until its lease ends, 0 when it has; `None` where it has no lease.
    #[must_use]
    pub fn left_s(&self) -> Option<u64> {
        self.expires_s.map(|end| end.saturating_sub(boot::seconds()))
    }
}
