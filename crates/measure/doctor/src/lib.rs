//! What will disturb a measurement or a cell on this computer, and how to mend it.
//!
//! | module | examines |
//! |---|---|
//! | [`measuring`] | what blurs a measurement: governor, clock, stolen time, neighbours |
//! | [`isolation`] | what stands between a set of CPUs and quiet |
//! | [`diagnosis`] | one finding, with its remedy |
#![deny(missing_docs)]

pub mod diagnosis;
pub mod isolation;
pub mod measuring;

pub use diagnosis::{Diagnosis, Level};
