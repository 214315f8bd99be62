//! Why a call failed.

use crate::status::WorkerStatus;
use seatmap_c_abi::{Boundary, Fault};
use seatmap_worker::WorkerError;

/// Why a call failed; its text is the last error.
#[derive(Debug, thiserror::Error)]
pub enum WorkerCallFailure {
    /// A mistake in a call, common to all libraries.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// An error of the workers.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// An error of the channel's other end.
    #[error("by the channel: {0}")]
    Channel(#[source] std::io::Error),
    /// The rights cannot be given up.
    #[error("cannot set up the fence: {0}")]
    Fence(String),
}

impl Boundary for WorkerCallFailure {
    type Status = WorkerStatus;

    const OK: WorkerStatus = WorkerStatus::Ok;
    const LIBRARY: &'static str = "libseatmap_worker";

    fn status(&self) -> WorkerStatus {
        match self {
            WorkerCallFailure::Fault(Fault::Defect { .. }) => WorkerStatus::Defect,
            WorkerCallFailure::Fault(_) => WorkerStatus::BadArgument,
            WorkerCallFailure::Channel(_) => WorkerStatus::Channel,
            WorkerCallFailure::Fence(_) => WorkerStatus::NotPossible,
            WorkerCallFailure::Worker(error) => match error {
                WorkerError::NoCpus | WorkerError::Shared(_) => WorkerStatus::BadArgument,
                WorkerError::Seat { .. } | WorkerError::Store { .. } | WorkerError::Cpus(_) => {
                    WorkerStatus::NotPossible
                }
                WorkerError::Busy(_) => WorkerStatus::Busy,
                WorkerError::NoProgram
                | WorkerError::Running
                | WorkerError::NotStarted
                | WorkerError::Silent { .. }
                | WorkerError::Waiting { .. } => WorkerStatus::BadState,
                WorkerError::Lost(_) => WorkerStatus::NotPossible,
                WorkerError::Panicked(_) => WorkerStatus::Defect,
            },
        }
    }
}
