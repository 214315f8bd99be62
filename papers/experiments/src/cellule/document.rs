//! The results as one JSON document.

use crate::cellule::costs::WorkerCosts;
use crate::cellule::gains::GainFigure;
use crate::cellule::streams::Through;
use crate::cellule::{Libspe2, SimulatedCellule, WorkersComparison, libspe2, simulated, text};
use serde::Serialize;

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-workers/1";

/// Work by pinned workers and by threads: the output of `seatmap-papers workers --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkersDocument {
    /// Name and version of the format.
    pub format: &'static str,
    /// The machine's name.
    pub machine: String,
    /// The controller's CPU, then those of the workers.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub cpus: Vec<u32>,
    /// The requested results.
    #[serde(flatten)]
    pub found: CelluleResult,
}

/// The requested results.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CelluleResult {
    /// The cost of each call, by number of workers.
    Calls(Vec<WorkerCosts>),
    /// A program by each way.
    Program(Box<WorkersComparison>),
    /// The gains by size.
    Gains(Vec<GainFigure>),
    /// The throughput of the pollers.
    Streams(Vec<Through>),
    /// The C programs against libspe2.
    Libspe2(Box<Libspe2>),
    /// Both styles on a model of the Cell.
    Cellule(Box<SimulatedCellule>),
}

impl WorkersDocument {
    /// Results of this machine, on these CPUs.
    pub fn new(machine: String, cpus: Vec<u32>, found: CelluleResult) -> Self {
        WorkersDocument { format: FORMAT, machine, cpus, found }
    }

    /// As text for a terminal.
    pub fn text(&self) -> String {
        match &self.found {
            CelluleResult::Calls(costs) => text::costs(costs),
            CelluleResult::Program(comparison) => text::comparison(comparison),
            CelluleResult::Gains(figures) => text::gains(figures),
            CelluleResult::Streams(all) => text::streams(all),
            CelluleResult::Libspe2(found) => libspe2::text::libspe2(found),
            CelluleResult::Cellule(found) => simulated::text::simulated(found),
        }
    }
}
