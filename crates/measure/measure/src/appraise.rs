//! Places a pattern on a machine and appraises the placement.
//!
//! [`seatmap_place`] uses distances only. This module adds the machine's model and links, and
//! compares the placement with an unplanned one.
//!
//! | module | holds |
//! |---|---|
//! | [`request`] | the request and its appraisal |
//! | [`rehearsal`] | the pattern's messages on a model |
//! | [`links`], [`ways`] | the links of a machine and their loads |
//! | [`nested`] | nested groups of PUs |
//! | [`drawn`] | a placement as drawn next to another |
//! | [`qap`] | QAPLIB's matrices |

pub mod drawn;
pub mod links;
pub mod nested;
pub mod qap;
pub mod rehearsal;
pub mod request;
pub mod ways;

pub use drawn::DrawnPlacement;
pub use links::MachineLinks;
pub use qap::{QapRequest, QapSolution};
pub use rehearsal::Rehearsal;
pub use request::{Appraisal, AppraisalError, AppraisalRequest, BeforePlan};
pub use ways::Ways;
