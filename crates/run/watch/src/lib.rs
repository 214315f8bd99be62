//! Takes a *seating*, which says where the threads of running programs may run, where they do run,
//! and what shares their seats. Compares it with a plan or with rules.
//!
//! A seating is read from `/proc` and `/sys` in two or more looks, so that shares of CPU time cover
//! the time between. This needs no privileges and changes nothing. The seating lists everything
//! that the kernel did not show, because an incomplete check must not report that all is well.
//!
//! | module | does |
//! |---|---|
//! | [`seating`] | the document: threads, processes, CPUs, the scheduler, and unread things |
//! | [`choice`] | chooses processes: by number, control group, unit, Slurm step or name |
//! | [`options`] | how long and how closely to watch them |
//! | [`snapshot`] | takes a seating, once or repeatedly |
//! | `trace` | counts the CPUs of threads in the kernel's scheduler |
//! | [`live`] | looks repeatedly, cheaply enough for a screen |
//! | [`watched`] | the same, with a judgement on each look |
//! | [`recording`] | looks in a file, to replay |
//! | [`variables`] | the variables that bind threads, and the CPUs that they name |
//! | [`finding`] | one problem, with figures and a remedy |
//! | [`remedy`] | the commands that fix findings |
//! | [`rule`], [`expected`] | the rules that a user can name; the seats of a plan or report |
//! | [`judge`](mod@judge) | compares a seating with them |
//! | [`baseline`] | recorded good states of units |
//! | [`standard`], [`check`] | the same rules and seats, check after check |
//! | [`metrics`] | a check as metrics, in a file or over HTTP |
#![deny(missing_docs)]

pub mod baseline;
pub mod check;
pub mod choice;
pub mod expected;
mod files;
pub mod finding;
mod glob;
pub mod judge;
mod limiting;
pub mod live;
mod looks;
#[cfg(test)]
mod made;
pub mod metrics;
pub mod options;
mod others;
mod process;
pub mod recording;
pub mod remedy;
pub mod rule;
pub mod seating;
pub mod snapshot;
pub mod standard;
mod trace;
pub mod variables;
pub mod watched;

pub use baseline::{UnitBaselineError, UnitBaselines};
pub use check::{CheckError, CheckFailure, CheckRequest, CheckStep, CheckView, RunningCheck};
pub use choice::{ChoiceError, ProcessChoice};
pub use expected::Expected;
pub use finding::{Finding, Gravity};
pub use judge::{Criteria, ThreadSeat, Verdict, judge};
pub use live::LiveWatch;
pub use options::WatchOptions;
pub use remedy::SeatingRemedyKind;
pub use rule::{Rule, UnknownRule};
pub use seating::{CpuActivity, KernelSettings, Process, Seating, Unseen, WatchedThread};
pub use snapshot::Watcher;
pub use standard::{ExpectedSource, RankPlace, RankSeats, Standard};
pub use watched::{LookJudgement, WatchedPrograms};
