//! The runners: the ways to run programs on a machine.

use seatmap_sim::CoherentModel;
use std::sync::Arc;

/// Where programs run: on this computer, or in virtual time on a model.
#[derive(Clone, Debug)]
pub enum Runner {
    /// This computer.
    Host,
    /// A machine with coherent caches, in virtual time.
    Coherent(Arc<CoherentModel>),
}

/// The way in which a machine answers when core distances are measured on it.
#[derive(Clone, Debug)]
pub enum DistanceSource {
    /// This computer answers with pinned threads and its clock.
    Measured,
    /// A model answers: it runs the same protocol in virtual time.
    Simulated(Arc<CoherentModel>),
    /// The figures of a file answer, with synthetic noise. Nothing is run.
    Replayed,
}
