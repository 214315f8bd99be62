//! Patterns as pure data: who sends how much to whom.
//!
//! A pattern is what a placement is computed from, beside the machine. It knows nothing of machines; `seatmap-place` brings
//! the two together.
//!
//! | module | holds |
//! |---|---|
//! | [`pattern`] | a weighted directed graph of tasks: `seatmap-pattern/1` |
//! | [`generate`] | patterns written as a word and numbers: `stencil2d:8x8` |
//! | [`import`] | other tools' files: CSV, MatrixMarket, QAPLIB |
//! | [`qaplib`] | quadratic assignment problems |
#![deny(missing_docs)]

pub mod generate;
pub mod import;
pub mod pattern;
pub mod qaplib;

pub use generate::{SpecError, generate};
pub use pattern::{Edge, Pattern, PatternError};
