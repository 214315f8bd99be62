//! Finds what will disturb a measurement or a cell on this computer, and names the remedies.
//!
//! | module | examines |
//! |---|---|
//! | [`measuring`] | influences that blur a measurement: governor, clock, stolen time, neighbours |
//! | [`isolation`] | the disturbances that a set of CPUs is exposed to |
//! | [`seats`] | what moves threads from their seats: schedulers, their settings, variables |
//! | [`diagnosis`] | one finding, with its remedy |
//! | [`report`] | all of these, for this computer, and the document of them |
//! | [`remedy`] | the ways to mend a finding |

pub mod diagnosis;
#[cfg(test)]
mod fixture;
pub mod isolation;
pub mod measuring;
pub mod remedy;
pub mod report;
pub mod seats;

pub use diagnosis::{Diagnosis, Severity, gravest};
pub use remedy::{DoctorRemedyKind, Remedy};
pub use report::{DoctorReport, ExamineError, examine};
