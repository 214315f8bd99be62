//! The published experiments, each as a study that runs here. Nothing else depends on this crate.
//!
//! | module | holds | after |
//! |---|---|---|
//! | [`rank`] | every mapping of tasks, ranked | Keller & Varbanescu 2010, Sudheer et al. 2009 |
//! | [`cell_stats`] | what mailboxes, signals, transfers and atomics cost | Abellan et al. 2009 |
//! | [`channels`] | what the homes of lines are worth to programs of channels | Liu et al. 2015 |
//! | [`cellule`] | work by pinned workers against work by threads | Gupta et al. 2010 |
#![deny(missing_docs)]

pub mod cell_stats;
pub mod cellule;
pub mod channels;
pub mod rank;
