//! Finds disturbances of this computer, and remedies.
//!
//! | module | examines |
//! |---|---|
//! | [`measuring`] | influences that blur a measurement |
//! | [`isolation`] | disturbances of a set of CPUs |
//! | [`seats`] | influences that move threads from seats |
//! | [`wakeups`] | the cost of waking a thread on another CPU |
//! | [`diagnosis`] | a finding |
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
pub mod wakeups;

pub use diagnosis::{Diagnosis, Severity, gravest};
pub use remedy::{DoctorRemedyKind, Remedy};
pub use report::{DoctorReport, ExamineError, examine};
