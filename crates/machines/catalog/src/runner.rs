//! What runs programs on a machine.

use seatmap_sim::catalog::Model;
use seatmap_sim::{CellModel, CoherentModel};
use std::sync::Arc;

/// Where programs run: on this computer, or in virtual time on a model.
#[derive(Clone, Debug)]
pub enum Runner {
    /// This computer.
    Host,
    /// A Cell, in virtual time.
    CellBe(Arc<CellModel>),
    /// A machine with coherent caches, in virtual time.
    Coherent(Arc<CoherentModel>),
}

/// How a machine answers when core distances are measured on it.
#[derive(Clone, Debug)]
pub enum Answers {
    /// This computer: pinned threads and its clock.
    Measured,
    /// A model runs the same protocol in virtual time.
    Simulated(Arc<CoherentModel>),
    /// Figures on file answer, with synthetic noise: nothing is run.
    Replayed,
}

impl From<Model> for Runner {
    fn from(model: Model) -> Self {
        match model {
            Model::Cell(model) => Runner::CellBe(model),
            Model::Coherent(model) => Runner::Coherent(model),
        }
    }
}
