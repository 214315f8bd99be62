//! Compares commands by running them, and claims only what the runs show.
//!
//! Two runs of a command differ by more than most changes of interest, and the computer drifts. So
//! commands are compared within *blocks*: each runs once, in random order, the first one twice. The
//! first command's difference from itself is the smallest that can be shown now.
//!
//! | module | does |
//! |---|---|
//! | [`metric`] | the reading of a run: its time, a printed figure, an event of the kernel |
//! | [`trial`] | runs a command once on its seats and reads the metric |
//! | [`mod@bench`] | compares commands: seats, session and result |
//! | [`activity`] | the load of other programs on each CPU |
//! | [`seats`] | chooses equal and quiet cores |
//! | [`blocks`] | the order of runs in randomised blocks |
//! | [`session`] | runs blocks until there are enough or the user stops it |
//! | [`disturbance`] | the CPU time that other programs took from a run, and disturbed runs |
//! | [`verdict`] | differences with intervals, limits, and the smallest difference to be shown |
//! | [`program_race`] | races ways to seat a program, on this computer or a cluster |
//! | [`model_race`] | races ways to seat a pattern's tasks on a simulated machine |
//! | [`race`] | drops worse candidates, and confirms the best with fresh runs |
//! | [`on_model`] | runs a pattern's messages on a simulated machine |
//! | [`counts`] | a program's setting for its number of threads, and the numbers to try |
//! | [`count_search`] | finds the best number of threads in few runs |
//! | [`tried_counts`] | the runs of that search, in the document of the race |
//! | [`factorial`] | judges candidates with equal numbers of runs |
//! | [`varied`] | sets kernel switches for a race and restores them |
//! | [`winner`] | the plan of a race's winner |
//! | [`fingerprint`] | the facts that must agree for two results to be comparable |
//! | [`document`] | the `seatmap-bench/1` result |
//! | [`tuned`] | the `seatmap-tune/1` race, and the result of each candidate |

pub mod activity;
pub mod bench;
pub mod blocks;
pub mod count_search;
pub mod counts;
pub mod disturbance;
pub mod document;
pub mod factorial;
#[cfg(test)]
mod false_claims_tests;
pub mod fingerprint;
pub mod metric;
pub mod model_race;
pub mod on_model;
pub mod program_race;
pub mod race;
pub mod seats;
pub mod session;
pub mod trial;
pub mod tried_counts;
pub mod tuned;
pub mod varied;
pub mod verdict;
pub mod winner;

pub use activity::Activity;
pub use bench::{BenchEvent, BenchRequest};
pub use blocks::BlockRun;
pub use disturbance::Disturbance;
pub use document::{BaselineComparison, BenchResults};
pub use fingerprint::Fingerprint;
pub use metric::{Better, Metric, MetricError};
pub use model_race::ModelRace;
pub use on_model::OnModel;
pub use program_race::{RaceEvent, RaceRequest};
pub use session::{Length, SessionEnd};
pub use trial::{CommandRunner, Contestant, RunReading, TrialError};
pub use tuned::Tuned;
pub use verdict::{CommandComparison, ComparisonVerdict, LimitOutcome};
pub use winner::{Provenance, RaceEnd};
