//! Every way of mapping tasks to workers, run, timed and ranked: Keller & Varbanescu 2010,
//! "Performance impact of task mapping on the Cell BE multicore processor".
//!
//! Intuition about an interconnect is a poor guide to the best mapping, so all of them are tried,
//! several times each, and ranked by their mean. Everything is generic over
//! [`Bed`](seatmap_cell_sim::channels::Bed): a model and a real machine go through the same
//! study.
//!
//! | module | is |
//! |---|---|
//! | [`mapping`] | who executes which task, in the paper's notation |
//! | [`named`] | the mappings that one would try first |
//! | [`setup`], [`choice`] | what is run, and on which mappings |
//! | [`shard`] | a part of a study, for one of several processes |
//! | [`times`], [`study`] | the times; how they are measured, in parallel or in blocks |
//! | [`journal`] | finished runs on file, so that no interruption loses them |
//! | [`spread`] | a study over all ranks of a parallel start, where lost ranks lose nothing |
//! | [`ranking`], [`figures`] | the ranking and what it says, as a document |
//! | [`merge()`] | one ranking from several |
//! | [`correlation`](seatmap_data::statistics::correlation) | whether runs agree on the ranks |
//! | [`mcb`] | which mappings may be the best |
//! | [`error`] | what is refused, and what fails |

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
