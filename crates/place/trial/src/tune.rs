//! Compares commands by running them, and claims only what the runs show.
//!
//! Two runs of one command differ by more than most changes that people want to see, and the state
//! of a computer drifts while it is measured. So each comparison is made within *blocks*: in one
//! block every command runs once, in random order, and the first one runs twice. The difference of
//! the first command from itself is the least that this computer can show, in the same minutes and
//! with the same disturbances as all the rest.
//!
//! | module | does |
//! |---|---|
//! | [`metric`] | what is read from a run: its time, a printed figure, an event of the kernel |
//! | [`trial`] | runs a command once, on its seats, and reads the metric |
//! | [`mod@bench`] | compares commands: seats for them, the session, the result |
//! | [`activity`] | the work of others on each CPU |
//! | [`seats`] | chooses equal and quiet cores |
//! | [`blocks`] | the order of runs: warm-ups, then randomised blocks |
//! | [`session`] | runs all blocks, until there are enough or somebody stops it |
//! | [`disturbance`] | the time that others took from a run, and runs from which they took more |
//! | [`verdict`] | differences with intervals, and the smallest difference that could be shown |
//! | [`limit`] | a comparison beside the most by which a command may be worse |
//! | [`program_race`] | races ways to seat a program, on this computer or a cluster |
//! | [`model_race`] | races ways to seat a pattern's tasks on a simulated machine |
//! | [`race`] | drops candidates that are worse, and confirms the best with fresh runs |
//! | [`on_model`] | runs of a pattern's messages on a simulated machine |
//! | [`factorial`] | judges candidates of which each ran equally often |
//! | [`varied`] | switches of the kernel that a race turns and puts back |
//! | [`winner`] | the plan of a race's winner |
//! | [`fingerprint`] | what must be equal for two results to be comparable |
//! | [`document`] | `seatmap-bench/1`, the result on file |
//! | [`tuned`] | `seatmap-tune/1`, a race on file |
//! | [`candidate_result`] | the end of each candidate's race, by runs of one kind |

pub mod activity;
pub mod bench;
pub mod blocks;
pub mod candidate_result;
pub mod disturbance;
pub mod document;
pub mod factorial;
#[cfg(test)]
mod false_claims_tests;
pub mod fingerprint;
pub mod limit;
pub mod metric;
pub mod model_race;
pub mod on_model;
pub mod program_race;
pub mod race;
pub mod seats;
pub mod session;
pub mod trial;
pub mod tuned;
pub mod varied;
pub mod verdict;
pub mod winner;

pub use activity::Activity;
pub use bench::{BenchEvent, BenchRequest};
pub use blocks::{BlockRun, Blocks};
pub use disturbance::Disturbance;
pub use document::{BaselineComparison, BenchResults};
pub use fingerprint::Fingerprint;
pub use limit::LimitOutcome;
pub use metric::{Better, Metric, MetricError};
pub use model_race::ModelRace;
pub use on_model::OnModel;
pub use program_race::{RaceEvent, RaceRequest};
pub use session::{Length, RunSession, SessionEnd};
pub use trial::{CommandRunner, Contestant, RunReading, TrialError};
pub use tuned::Tuned;
pub use verdict::{CommandComparison, ComparisonVerdict};
pub use winner::{NoPlan, Provenance, RaceEnd, WinnersPlan};
