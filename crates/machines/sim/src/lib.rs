//! Machines in virtual time.
//!
//! A deterministic discrete-event simulator: tasks are coroutines, devices are state machines, and
//! time is a whole number of the model's core cycles. The same inputs and seed give the same result
//! on any computer. Machines that no longer exist can therefore be measured again, and every
//! placement on them can be tried.
//!
//! | module | is |
//! |---|---|
//! | [`wheel`] | the event queue |
//! | [`cell_be`] | the Cell Broadband Engine, one chip or two |
//! | [`coherent`] | machines with coherent caches: rings, meshes, levels |
//! | [`catalog`] | the models that come with Seatmap |
//! | [`trace`] | what happened when, for trace viewers |
//! | [`figure`] | figures with their sources |
//! | [`error`] | why a run ended early, or a model was refused |
#![deny(missing_docs)]

pub mod catalog;
pub mod cell_be;
pub mod coherent;
mod engine;
pub mod error;
mod fiber;
pub mod figure;
mod moment;
pub mod trace;
pub mod wheel;

pub use cell_be::{CellBed, CellModel};
pub use coherent::{CoherentBed, CoherentModel};
pub use error::{ModelError, SimError};
