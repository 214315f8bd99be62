//! Errors of runs and models.

use crate::engine::TaskRefusal;
use seatmap_data::document::Blame;
use seatmap_data::statistics::words::counted;

/// Why a simulated run did not finish.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// A task asked for something that the machine refuses.
    #[error("task {task}: {refusal}")]
    Refused {
        /// Task.
        task: usize,
        /// Machine's reason.
        refusal: TaskRefusal,
    },
    /// A task's code failed.
    #[error("task {task} panicked: {message}")]
    Panicked {
        /// Task.
        task: usize,
        /// Message of the panic.
        message: String,
    },
    /// No event is left, and tasks wait.
    #[error("deadlock after {at_ns:.0} ns: {}", waiting.join("; "))]
    Deadlock {
        /// Virtual time.
        at_ns: f64,
        /// Waiting tasks, each with the reason.
        waiting: Vec<String>,
    },
    /// The run had more events than the limit.
    #[error(
        "stopped after {events} ({at_ns:.0} ns of the model's time); tasks may be waiting for each \
         other in a loop: {}",
        doing.join("; "),
        events = counted(*.events, "event")
    )]
    Endless {
        /// Events that happened.
        events: u64,
        /// Virtual time.
        at_ns: f64,
        /// Call of each task.
        doing: Vec<String>,
    },
    /// The model does not have a seat, or two tasks have the same seat.
    #[error("{0}")]
    Seat(String),
}

impl Blame for SimError {
    fn is_input(&self) -> bool {
        // Refused requests and seats come from the command line or a file.
        matches!(self, SimError::Refused { .. } | SimError::Seat(_))
    }
}

/// Why a description of a model was refused.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ModelError {
    /// File, with line and column if the text is not TOML or has the wrong keys.
    pub place: String,
    /// Mistake.
    pub message: String,
}

impl ModelError {
    /// The text of this name describes an impossible machine.
    pub fn impossible(name: &str, message: impl Into<String>) -> Self {
        ModelError { place: name.to_owned(), message: message.into() }
    }
}
