//! Seats for a running program: it is observed, seats are tried, and kept only if shown to be
//! better.
//!
//! A [`LiveEngine`] takes [`ProgramEvent`]s (an observation, the reading of a period) and returns
//! [`Decision`]s. Without a clock or threads, it decides the same when a log is replayed. A
//! [`Conductor`] carries them out.
//!
//! | module | contents |
//! |---|---|
//! | [`engine`] | the state machine: observe, try in alternating periods, keep or remove, rest |
//! | [`event`] | the engine's events and decisions |
//! | [`log`] | both on file (`seatmap-auto/1`), and the replay of a file |
//! | [`candidates`] | candidate seats, from the observed pattern and the distances of the machine |
//! | [`masks`] | the masks of running threads: set in one sweep, and restored |
//! | [`guard`] | the process that restores them if this one is killed |
//! | [`meter`] | the work that a program does in a period |
//! | `foreign` | the CPU time that other programs took in each period |
//! | [`running`] | a running program before its observation: its processes, and obstacles |
//! | [`conductor`] | carries out the decisions |
//! | [`auto`] | runs one program from start to end |
//!
//! `tune` compares whole runs; this module compares periods, for programs that run for days.

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
pub mod running;

pub use auto::{AutoRequest, AutoRun};
pub use candidates::{NoSeats, SeatCandidate};
pub use conductor::{Conductor, LiveOutcome};
pub use engine::{DecisionRules, LiveEngine};
pub use event::{CandidateVerdict, Decision, ProgramEvent, RateGain};
pub use meter::WorkMetric;
pub use running::AutoRemark;
