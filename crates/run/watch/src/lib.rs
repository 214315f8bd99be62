//! Takes a *seating*: where the threads of living programs may run, where they do run, and what
//! shares their seats. Holds it against a plan or against rules.
//!
//! A seating is read from `/proc` and `/sys` in two looks or more, so that shares of CPU time are
//! those of the time between. It needs no privileges and changes nothing. It lists the things that
//! the kernel did not show, as a check that has not seen everything may not say that all is well.
//!
//! | module | does |
//! |---|---|
//! | [`seating`] | the document: threads, processes, CPUs, the scheduler, and what was not seen |
//! | [`choice`] | which processes: by number, control group, unit, Slurm step or name |
//! | [`options`] | how long and how closely they are watched |
//! | [`snapshot`] | takes a seating, once or again and again |
//! | `trace` | where threads ran, as the kernel's scheduler counts it |
//! | [`live`] | looks again and again, cheaply enough for a screen |
//! | [`watched`] | the same, with a judgement on each look |
//! | [`recording`] | looks in a file, to be replayed |
//! | [`variables`] | the variables that bind threads, and the CPUs that they ask for |
//! | [`finding`] | one thing that is wrong, with figures and a remedy |
//! | [`remedy`] | the commands that mend findings |
//! | [`rule`], [`expected`] | the rules that a user can name; the seats of a plan or report |
//! | [`judge`](mod@judge) | holds a seating against them |
//! | [`baseline`] | units as they were when they were good |
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
