//! The runners: the ways to run programs on a machine.

use seatmap_document::content_hash;
use seatmap_sim::catalog::Model;
use seatmap_sim::{CellModel, CoherentModel};
use std::sync::Arc;

/// Where programs run: on this computer, or in virtual time on a model.
#[derive(Clone, Debug)]
pub enum Runner {
    /// This computer.
    Host,
    /// A Cell processor, in virtual time.
    CellBe(Arc<CellModel>),
    /// A machine with coherent caches, in virtual time.
    Coherent(Arc<CoherentModel>),
}

impl Runner {
    /// A hash of all that is known of the model; `None` for this computer.
    #[must_use]
    pub fn model_hash(&self) -> Option<String> {
        match self {
            Runner::CellBe(model) => Some(content_hash(&**model)),
            Runner::Coherent(model) => {
                Some(content_hash(&(&model.name, &model.topology, &model.figures)))
            }
            Runner::Host => None,
        }
    }
}

/// The way in which a machine answers when core distances are measured on it.
#[derive(Clone, Debug)]
pub enum Answers {
    /// This computer answers with pinned threads and its clock.
    Measured,
    /// A model answers: it runs the same protocol in virtual time.
    Simulated(Arc<CoherentModel>),
    /// The figures of a file answer, with synthetic noise. Nothing is run.
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
