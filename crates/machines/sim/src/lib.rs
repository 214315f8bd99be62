//! Machines in virtual time.
//!
//! A deterministic discrete-event simulator: tasks are coroutines, devices are state machines, and
//! time is a whole number of the model's core cycles. The same inputs and seed give the same result
//! on any computer, so past machines can be measured again.
//!
//! | module | is |
//! |---|---|
//! | [`wheel`] | the event queue |
//! | [`coherent`] | machines with coherent caches: rings, meshes, levels |
//! | [`catalog`] | the bundled models |
//! | [`engine`] | tasks as coroutines, in turn with any machine |
//! | [`figure`] | figures with their sources |
//! | [`error`] | errors of runs and models |
//! | [`moment`] | a component and a time, for the message of a broken invariant |
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
