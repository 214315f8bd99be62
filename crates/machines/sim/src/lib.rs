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
//! | [`coherent`] | machines with coherent caches: rings, meshes, levels |
//! | [`catalog`] | the models that come with Seatmap |
//! | [`engine`] | tasks as coroutines, in turn with any machine |
//! | [`figure`] | figures with their sources |
//! | [`error`] | why a run ended early, or a model was refused |
//! | [`moment`] | a component at a time, as a broken invariant names it |
#![deny(missing_docs)]

pub mod catalog;
pub mod coherent;
pub mod engine;
pub mod error;
mod fiber;
pub mod figure;
pub mod moment;
pub mod wheel;

pub use coherent::{CoherentBed, CoherentModel};
pub use error::{ModelError, SimError};
