//! Patterns as pure data: how much each task sends to each other task.
//!
//! A pattern is what a placement is computed from, beside the machine. It knows nothing of
//! machines; `seatmap-place` brings the two together.
//!
//! | module | holds |
//! |---|---|
//! | [`graph`], [`edge`] | a weighted directed graph of tasks: `seatmap-pattern/1` |
//! | [`mod@generate`] | patterns written as a word and numbers: `stencil2d:8x8` |
//! | [`import`] | other tools' files: CSV matrices and lists, MatrixMarket, QAPLIB |
//! | [`loads`] | how much each task works |
//! | [`qaplib`] | quadratic assignment problems |

pub mod edge;
pub mod generate;
pub mod graph;
pub mod import;
pub mod loads;
pub mod qaplib;
mod words;

pub use edge::Edge;
pub use generate::{SpecError, generate};
pub use graph::{Outsider, Pattern, PatternObservation};
