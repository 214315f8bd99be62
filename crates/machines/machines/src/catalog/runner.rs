//! The ways to run programs on a machine.

use seatmap_sim::CoherentModel;
use std::sync::Arc;

/// Runs programs on this computer, or in virtual time on a model.
#[derive(Clone, Debug)]
pub enum Runner {
    /// This computer.
    Host,
    /// A machine with coherent caches, in virtual time.
    Coherent(Arc<CoherentModel>),
}

/// The source of core distances when a machine is measured.
#[derive(Clone, Debug)]
pub enum DistanceSource {
    /// This computer: pinned threads and its clock.
    Measured,
    /// A model, which runs the same protocol in virtual time.
    Simulated(Arc<CoherentModel>),
    /// The figures of a file, with synthetic noise. Nothing is run.
    Replayed,
}
