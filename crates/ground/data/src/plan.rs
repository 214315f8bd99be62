//! Plans: placements in files, and exports for other tools that place threads.
//!
//! A plan has the CPU of each task, how it was found and how good it is. `seatmap-place` makes
//! plans, `seatmap-launch` runs programs by them; exports are for other launchers.
//!
//! | module | holds |
//! |---|---|
//! | [`placed`] | a placement with its provenance: `seatmap-plan/1` |
//! | [`objective`], [`baselines`] | what a placement minimises; the costs of usual placements |
//! | [`channel`] | the lines for channels |
//! | [`agreement`] | whether a cheaper objective would have been as good |
//! | [`effect`] | how much a plan could change the program's speed |
//! | [`local_rank`] | the instance of a command that a launcher starts several times |
//! | [`export`] | plans for `taskset`, OpenMP runtimes, Open MPI and others |

pub mod agreement;
pub mod baselines;
pub mod channel;
mod check;
pub mod effect;
pub mod export;
pub mod local_rank;
pub mod objective;
mod other_machine;
pub mod placed;

pub use agreement::Agreement;
pub use baselines::{Baselines, Random};
pub use channel::Channel;
pub use effect::Effect;
pub use objective::Objective;
pub use other_machine::OtherMachine;
pub use placed::Plan;
