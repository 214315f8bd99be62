//! The data that Seatmap computes with and keeps in files: machines, patterns, plans, statistics.
//!
//! | module | holds |
//! |---|---|
//! | [`document`] | Seatmap's own JSON documents; atomic file replacement |
//! | [`grouped`] | Values grouped by a key |
//! | [`invariant`](mod@invariant) | conditions inside Seatmap, with messages for reports |
//! | [`machine`] | Data about machines: topology, core distances, profiles, their files |
//! | [`pattern`] | Communication graphs: how much each task sends to each other task |
//! | [`plan`] | Placements in files, and exports for other tools that place threads |
//! | [`port`] | The operations of tasks: cache lines, and channels on them |
//! | [`statistics`] | Order statistics, intervals, rank correlation and random numbers |
#![deny(missing_docs)]

pub mod document;
pub mod grouped;
pub mod invariant;
pub mod machine;
pub mod pattern;
pub mod plan;
pub mod port;
pub mod statistics;
#[cfg(feature = "schema")]
mod tests;

pub use statistics::words;
