//! Finds disturbances of measurements and cells on this computer, and names remedies.
//!
//! | module | examines |
//! |---|---|
//! | [`measuring`] | influences that blur a measurement: governor, clock, stolen time, neighbours |
//! | [`isolation`] | disturbances of a set of CPUs |
//! | [`seats`] | influences that move threads from their seats: schedulers, settings, variables |
//! | [`diagnosis`] | a finding and its remedy |
//! | [`report`] | all findings of this computer, as a document |
//! | [`remedy`] | ways to fix a finding |

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
