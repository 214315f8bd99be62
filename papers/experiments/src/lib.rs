//! The published experiments, each as a study that runs here. Nothing else depends on this crate.
//!
//! | module | holds | after |
//! |---|---|---|
//! | [`rank`] | all mappings of tasks, ranked | Keller & Varbanescu 2010, Sudheer et al. 2009 |
//! | [`cell_stats`] | costs of mailboxes, signals, transfers, atomics | Abellan et al. 2009 |
//! | [`primitives`] | the same for the primitives of threads on Linux | |
//! | [`channels`] | the gain from homes of lines for programs with channels | Liu et al. 2015 |
//! | [`cellule`] | work by pinned workers compared with work by threads | Gupta et al. 2010 |
#![deny(missing_docs)]

pub mod cell_stats;
pub mod cellule;
pub mod channels;
pub mod primitives;
pub mod rank;
