//! Plans: placements on file, and the files of other tools that seat threads.
//!
//! A plan says where each task sits, how that was found and how good it is. `seatmap-place` makes
//! plans, `seatmap-launch` carries them out, and exports serve people who launch programs by other
//! means. A plan holds all that an export needs: no profile is needed beside it.
//!
//! | module | holds |
//! |---|---|
//! | [`placed`] | a placement with its provenance: `seatmap-plan/1` |
//! | [`objective`], [`baselines`] | what it is judged by; what other placements cost |
//! | [`channel`] | which lines to use |
//! | [`agreement`] | whether a cheaper objective would have done |
//! | [`effect`] | how much it could change the program |
//! | [`local_rank`] | which of several starts of one command this is: the rank on this node |
//! | [`export`] | the same placement as `taskset`, OpenMP runtimes, Open MPI and others take it |

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
