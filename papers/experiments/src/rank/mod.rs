//! Runs, times and ranks all mappings of tasks to workers: Keller & Varbanescu 2010, "Performance
//! impact of task mapping on the Cell BE multicore processor".
//!
//! Intuition is a poor guide to the best mapping, so all are tried, several times each, and ranked
//! by their mean. Everything is generic over [`Bed`](seatmap_cell_sim::channels::Bed): a model and
//! a real machine go through the same study.
//!
//! | module | is |
//! |---|---|
//! | [`mapping`] | the task of each thread, in the paper's notation |
//! | [`named`] | well-known mappings |
//! | [`setup`], [`choice`] | the setup of a study, and its mappings |
//! | [`shard`] | a part of a study, for one of several processes |
//! | [`times`], [`study`] | the times; how they are measured, in parallel or in blocks |
//! | [`journal`] | a file of finished runs, so that no interruption loses them |
//! | [`spread`] | a study over all ranks of a parallel start, which survives lost ranks |
//! | [`ranking`], [`figures`] | the ranking and its figures, as a document |
//! | [`merge()`] | one ranking from several |
//! | [`correlation`](seatmap_data::statistics::correlation) | whether runs agree on the ranks |
//! | [`mcb`] | which mappings may be the best |
//! | [`error`] | refusals and failures |

pub mod choice;
pub mod error;
pub mod figures;
pub mod journal;
pub mod mapping;
pub mod mcb;
pub mod merge;
pub mod named;
pub mod program;
pub mod ranking;
pub mod setup;
pub mod shard;
pub mod spread;
pub mod study;
pub mod times;

pub use choice::MappingChoice;
pub use error::{RankStudyError, RankingError, SetupError};
pub use mapping::TaskMapping;
pub use merge::merge;
pub use program::{TimedProgram, time_ns};
pub use ranking::Ranking;
pub use setup::{Setup, Variant};
pub use shard::Shard;
pub use times::{MappingTimes, MappingTrial};
