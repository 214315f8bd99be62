//! Patterns as pure data: who sends how much to whom.
//!
//! A pattern is what a placement is computed from, beside the machine. It knows nothing of machines; `seatmap-place` brings
//! the two together.
//!
//! | module | holds |
//! |---|---|
//! | [`pattern`] | a weighted directed graph of tasks: `seatmap-pattern/1` |
#![deny(missing_docs)]

pub mod pattern;

pub use pattern::{Edge, Pattern, PatternError};
