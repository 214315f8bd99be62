//! Patterns as data: how much each task sends to each other task.
//!
//! A pattern is an input of a placement. It does not depend on machines; `seatmap-place` combines
//! the two.
//!
//! | module | holds |
//! |---|---|
//! | [`graph`], [`edge`] | a weighted directed graph of tasks: `seatmap-pattern/1` |
//! | [`mod@generate`] | patterns written as a word and numbers: `stencil2d:8x8` |
//! | [`import`] | other tools' files: CSV matrices and lists, MatrixMarket, QAPLIB |
//! | [`loads`] | the work of each task |
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
