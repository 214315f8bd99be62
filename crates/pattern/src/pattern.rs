//! `seatmap-pattern/1`: a weighted directed graph of tasks.

use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-pattern/1";

/// More tasks than any placement here can handle; a file that claims more would only fill the memory.
pub const MAX_TASKS: usize = 1 << 20;

/// Who sends how much to whom. Unknown fields on file are ignored, unknown versions refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// [`FORMAT`].
    pub format: String,
    /// What people call it: `stencil2d:8x8`, a file's stem.
    pub name: String,
    /// How many tasks there are; they are numbered from 0.
    pub tasks: usize,
    /// What each task is called; empty where they have no names.
    #[serde(default)]
    pub names: Vec<String>,
    /// At most one for each ordered pair of tasks.
    pub edges: Vec<Edge>,
}

/// What one task sends to another over the whole run (or an iteration of it: only proportions matter to a placement).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The sender.
    pub from: usize,
    /// The receiver, another task.
    pub to: usize,
    /// Bytes sent.
    pub bytes: f64,
    /// Messages sent.
    #[serde(default = "one")]
    pub messages: f64,
}

fn one() -> f64 {
    1.0
}

/// Why a pattern was refused.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// Not JSON, or JSON of another shape.
    #[error("line {line}, column {column}: {problem}")]
    Json {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What the parser says.
        problem: String,
    },
    /// Another format, or a version of this one that is not known here.
    #[error("its format is '{0}', and this program reads {FORMAT}")]
    Format(String),
    /// The parts do not fit together.
    #[error("{0}")]
    Inconsistent(String),
}
