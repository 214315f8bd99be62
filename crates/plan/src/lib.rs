//! Plans: placements on file, and the files of other tools that seat threads.
//!
//! A plan says where each task sits, how that was found and how good it is. `seatmap-place` makes plans, `seatmap-launch`
//! carries them out, and whoever launches programs by other means exports them.
//!
//! | module | holds |
//! |---|---|
//! | [`plan`] | a placement with its provenance: `seatmap-plan/1` |
#![deny(missing_docs)]

pub mod plan;

pub use plan::{Baselines, Channel, Objective, Plan, PlanError, Random};
