//! The errors of workers.

use seatmap_os::partners::Loss;
use std::io;

/// Why a worker cannot do something.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The thread could not be created or pinned.
    #[error("cannot start a worker on CPU {cpu}")]
    Seat {
        /// The CPU.
        cpu: u32,
        /// The kernel's error.
        source: io::Error,
    },
    /// Two workers on one CPU would wait for each other.
    #[error("CPU {0} was given two workers")]
    Shared(u32),
    /// The runtime has no CPUs.
    #[error("a runtime needs at least one CPU")]
    NoCpus,
    /// The memory of a local store cannot be mapped.
    #[error("no memory for a local store of {bytes} bytes")]
    Store {
        /// Its size.
        bytes: usize,
        /// The kernel's error.
        source: io::Error,
    },
    /// All workers are borrowed.
    #[error("all {0} workers are in contexts; drop one first")]
    Busy(usize),
    /// The context has no program.
    #[error("the context has no program; load one first")]
    NoProgram,
    /// The program already runs.
    #[error("the context's program is running; wait for it first")]
    Running,
    /// Nothing was started.
    #[error("the context's program has not been started")]
    NotStarted,
    /// The program ended by a panic.
    #[error("the program panicked: {0}")]
    Panicked(String),
    /// The worker's thread has exited, or has lost its CPU.
    #[error(transparent)]
    Lost(#[from] Loss),
    /// No program can send or take the expected message.
    #[error("the program on CPU {cpu} {how}, so no message to or from it can arrive")]
    Silent {
        /// The worker's CPU.
        cpu: u32,
        /// The program's end.
        how: String,
    },
    /// The program waited for its controller, which waited for the program's end.
    #[error(
        "the program on CPU {cpu} was stopped: it waited for a message, or for room for one, while \
         its controller waited for its end; send and read its messages before waiting"
    )]
    Waiting {
        /// The worker's CPU.
        cpu: u32,
    },
    /// The CPUs of this process cannot be read.
    #[error("cannot read the CPUs of this process")]
    Cpus(#[source] io::Error),
}
