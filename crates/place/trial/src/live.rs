//! Seats for a program that runs: observed, tried and kept only where they are shown to be better.
//!
//! The decisions are apart from the doing. An [`LiveEngine`] takes [`ProgramEvent`]s (what was
//! observed, what a period read) and answers with [`Decision`]s; it knows neither a clock nor a
//! thread, so that the log of a run can be played again and gives the same decisions. A
//! [`Conductor`] does as it says to a living program.
//!
//! | module | what it has |
//! |---|---|
//! | [`engine`] | the state machine: observe, try in alternating periods, keep or put back, rest |
//! | [`event`] | what the engine is told and what it answers |
//! | [`log`] | both on file, `seatmap-auto/1`, and the file played again |
//! | [`candidates`] | seats worth a try, by the observed pattern and the distances of the machine |
//! | [`masks`] | the masks of living threads: given in one sweep, and given back |
//! | [`guard`] | the process that gives them back if this one is killed |
//! | [`meter`] | the work that a program does in a period |
//! | `foreign` | the time that others used of the CPUs in each period |
//! | [`conductor`] | all of it together |
//! | [`auto`] | one program from its start to its end, as a person means it |
//!
//! The crate stands beside `tune`, which races whole runs of a command. A program that runs for
//! days has one run, so its periods are compared instead.

pub mod auto;
pub mod candidates;
pub mod conductor;
pub mod engine;
pub mod event;
mod foreign;
pub mod guard;
pub mod log;
pub mod masks;
pub mod meter;

pub use auto::{AutoError, AutoRequest, AutoRun};
pub use candidates::{NoSeats, SeatCandidate, Soft};
pub use conductor::{Conductor, LiveError, LiveOutcome};
pub use engine::{DecisionRules, LiveEngine};
pub use event::{CandidateVerdict, Decision, ProgramEvent, RateGain};
pub use meter::WorkMetric;
