//! Why a call failed.

use crate::status::Status;
use seatmap_c_abi::{Boundary, Fault};
use seatmap_worker::WorkerError;

/// Why a call failed; its text is what the last error says.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A mistake in a call, common to all libraries.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// An error of the workers.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// An error of the other end of a channel.
    #[error("by the channel: {0}")]
    Channel(#[source] std::io::Error),
    /// Rights that cannot be given up.
    #[error("the fence cannot be put up: {0}")]
    Fence(String),
}

impl Boundary for Failure {
    type Status = Status;

    const OK: Status = Status::Ok;
    const LIBRARY: &'static str = "libseatmap_worker";

    fn status(&self) -> Status {
        match self {
            Failure::Fault(Fault::Defect { .. }) => Status::Defect,
            Failure::Fault(_) => Status::BadArgument,
            Failure::Channel(_) => Status::Channel,
            Failure::Fence(_) => Status::NotPossible,
            Failure::Worker(error) => match error {
                WorkerError::NoCpus | WorkerError::Shared(_) => Status::BadArgument,
                WorkerError::Seat { .. } | WorkerError::Store { .. } | WorkerError::Cpus(_) => {
                    Status::NotPossible
                }
                WorkerError::Busy(_) => Status::Busy,
                WorkerError::NoProgram
                | WorkerError::Running
                | WorkerError::NotStarted
                | WorkerError::Silent { .. }
                | WorkerError::Waiting { .. } => Status::BadState,
                WorkerError::Lost(_) => Status::NotPossible,
                WorkerError::Panicked(_) => Status::Defect,
            },
        }
    }
}
