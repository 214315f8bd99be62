//! Places a pattern on a machine, and appraises the placement by what the machine has.
//!
//! [`seatmap_place`] answers by distances alone. Here the answer meets the machine: its model runs
//! the pattern's messages where runs are to judge, its links show where traffic gathers, and the
//! placement stands beside what would have been without it.
//!
//! | module | holds |
//! |---|---|
//! | [`request`] | the request, and its appraisal: a plan, remarks, the comparison |
//! | [`rehearsal`] | the pattern's messages on a model: the judge of placements |
//! | [`links`], [`ways`] | the links of a machine and their loads |
//! | [`nested`] | the PUs inside cores, caches, dies, nodes and packages |
//! | [`drawn`] | a placement as it is drawn beside another |
//! | [`qap`] | two matrices of QAPLIB instead of a machine and a pattern |

pub mod drawn;
pub mod links;
pub mod nested;
pub mod qap;
pub mod rehearsal;
pub mod request;
#[cfg(test)]
mod samples;
pub mod ways;

pub use drawn::DrawnPlacement;
pub use links::MachineLinks;
pub use qap::{QapRequest, QapSolution};
pub use rehearsal::Rehearsal;
pub use request::{Appraisal, AppraisalError, AppraisalRequest, BeforePlan};
pub use ways::Ways;
