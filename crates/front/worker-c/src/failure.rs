//! Why a call failed.

use crate::status::Status;
use seatmap_c_abi::Boundary;
use seatmap_worker::WorkerError;

/// Why a call failed; its text is what the last error says.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A pointer that must lead somewhere does not.
    #[error("{0} is NULL")]
    Null(&'static str),
    /// An argument with a value that means nothing.
    #[error("{0}")]
    Argument(String),
    /// What the workers say.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// What the other end of a channel says.
    #[error("by the channel: {0}")]
    Channel(#[source] std::io::Error),
    /// Rights that cannot be given up.
    #[error("the fence cannot be put up: {0}")]
    Fence(String),
    /// A panic.
    #[error("a defect in libseatmap_worker: {0}")]
    Defect(String),
}

impl Boundary for Failure {
    type Status = Status;

    const OK: Status = Status::Ok;

    fn null(name: &'static str) -> Self {
        Failure::Null(name)
    }

    fn argument(words: String) -> Self {
        Failure::Argument(words)
    }

    fn defect(words: String) -> Self {
        Failure::Defect(words)
    }

    fn status(&self) -> Status {
        match self {
            Failure::Null(_) | Failure::Argument(_) => Status::BadArgument,
            Failure::Defect(_) => Status::Defect,
            Failure::Channel(_) => Status::Channel,
            Failure::Fence(_) => Status::NotPossible,
            Failure::Worker(error) => match error {
                WorkerError::NoCpus | WorkerError::Shared(_) => Status::BadArgument,
                WorkerError::Seat { .. } | WorkerError::Store { .. } | WorkerError::Cpus(_) => Status::NotPossible,
                WorkerError::Busy(_) => Status::Busy,
                WorkerError::NoProgram | WorkerError::Running | WorkerError::NotStarted => Status::BadState,
                WorkerError::Panicked(_) => Status::Defect,
            },
        }
    }
}
