//! The data that Seatmap computes with and keeps on file: machines, patterns, plans, statistics.
//!
//! | module | holds |
//! |---|---|
//! | [`document`] | Seatmap's own JSON documents; text made visible, files replaced whole |
//! | [`invariant`](mod@invariant) | conditions inside Seatmap, with messages for reports |
//! | [`machine`] | Pure data about machines: topology, core distances, profiles, their files |
//! | [`pattern`] | Communication graphs: who sends how much to whom |
//! | [`plan`] | Placements on file, and the files of other tools that seat threads |
//! | [`port`] | What a task can do: cache lines, and what is built on them |
//! | [`statistics`] | Order statistics, intervals, rank correlation and random numbers, once |
#![deny(missing_docs)]

pub mod document;
pub mod invariant;
pub mod machine;
pub mod pattern;
pub mod plan;
pub mod port;
pub mod statistics;
