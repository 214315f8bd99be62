//! Takes a *seating* of running programs, and compares it with a plan or with rules.
//!
//! A seating is read from `/proc` and `/sys` in two or more looks, so that shares of CPU time cover
//! the time between. This needs no privileges and changes nothing. The seating lists everything
//! hidden by the kernel, because an incomplete check must not report that all is well.
//!
//! | module | does |
//! |---|---|
//! | [`seating`] | the document |
//! | [`choice`] | chooses processes |
//! | `options` | how to watch them |
//! | `snapshot` | takes a seating, once or repeatedly |
//! | `trace` | counts CPUs in the scheduler |
//! | [`live`] | looks repeatedly |
//! | `watched` | the same, with a judgement on each look |
//! | [`recording`] | looks in a file, to replay |
//! | [`variables`] | variables that bind threads |
//! | `finding` | one problem, with figures and a remedy |
//! | [`remedy`] | the commands that fix findings |
//! | `rule`, [`expected`] | rules; seats of a plan or report |
//! | [`judge`](mod@judge) | compares a seating with them |
//! | `baseline` | recorded good states of units |
//! | `standard`, [`check`] | checks, once or repeatedly |
//! | [`metrics`] | a check as metrics |
#![deny(missing_docs)]

mod baseline;
pub mod check;
pub mod choice;
pub mod expected;
mod files;
mod finding;
mod glob;
pub mod judge;
mod limiting;
pub mod live;
mod looks;
#[cfg(test)]
mod tests {
    pub mod made;
    mod unprivileged;
}
pub mod metrics;
mod options;
mod others;
mod process;
pub mod recording;
pub mod remedy;
mod rule;
pub mod seating;
mod snapshot;
mod standard;
mod thread;
mod trace;
pub mod variables;
mod watched;

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
