//! Every way of mapping tasks to workers, run, timed and ranked: Keller & Varbanescu 2010,
//! "Performance impact of task mapping on the Cell BE multicore processor".
//!
//! Intuition about an interconnect is a poor guide to the best mapping, so all of them are tried,
//! several times each, and ranked by their mean. Everything is generic over
//! [`Bed`](seatmap_data::port::channels::Bed): a model and a real machine go through the same study.
//!
//! | module | is |
//! |---|---|
//! | [`mapping`], [`named`] | who executes which task, in the paper's notation; the mappings that one would try first |
//! | [`setup`], [`choice`], [`shard`] | what is run, on which mappings, and how that is spread over several processes |
//! | [`times`], [`study`], [`journal`] | the times; how they are come by, in parallel or in blocks; how they survive an interruption |
//! | [`spread`] | a study over all ranks of a parallel start, where lost ranks lose nothing |
//! | [`ranking`], [`figures`], [`merge()`] | the ranking and what it says, as a document; one from several |
//! | [`correlation`](seatmap_data::statistics::correlation), [`mcb`] | do runs agree on the ranks, and which mappings may be the best |
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
