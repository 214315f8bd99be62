//! Why a run ended early.

use seatmap_port::channels::DmaError;

/// Why a simulated run did not finish.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// A transfer that the hardware would refuse.
    #[error("task {task}: {error}")]
    Refused {
        /// The task.
        task: usize,
        /// What the hardware says.
        error: DmaError,
    },
    /// A task's code failed.
    #[error("task {task} panicked: {message}")]
    Panicked {
        /// The task.
        task: usize,
        /// What it said.
        message: String,
    },
    /// Nothing can happen any more, and tasks wait.
    #[error("deadlock after {at_ns:.0} ns: {}", waiting.join("; "))]
    Deadlock {
        /// Virtual time.
        at_ns: f64,
        /// Who waits for what.
        waiting: Vec<String>,
    },
    /// More happened than was allowed for.
    #[error(
        "no end in sight after {events} events ({at_ns:.0} ns of the model's time); tasks may be waiting for each other in a loop: {}",
        doing.join("; ")
    )]
    Endless {
        /// Events that happened.
        events: u64,
        /// Virtual time.
        at_ns: f64,
        /// What each task was doing.
        doing: Vec<String>,
    },
    /// A seat that the model does not have, or two tasks on one.
    #[error("{0}")]
    Seat(String),
}

/// Why a description of a model was refused.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Not TOML, or not the right keys.
    #[error("{name}:{line}:{column}: {message}")]
    Syntax {
        /// The file.
        name: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Read, and impossible.
    #[error("{name}: {message}")]
    Impossible {
        /// The file.
        name: String,
        /// What is wrong.
        message: String,
    },
}
