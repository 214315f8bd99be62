//! The errors of workers.

use seatmap_os::partners::Loss;
use std::io;

/// The reason why a worker cannot do something.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// No thread could be made, or the kernel did not seat it there.
    #[error("no worker could be seated on CPU {cpu}")]
    Seat {
        /// The CPU.
        cpu: u32,
        /// The kernel's error.
        source: io::Error,
    },
    /// A CPU for two workers: both would wait for the other to give way.
    #[error("CPU {0} is asked to hold two workers")]
    Shared(u32),
    /// A runtime without workers.
    #[error("a runtime needs a CPU or more")]
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
    /// A context without a program.
    #[error("the context has no program; load one first")]
    NoProgram,
    /// A second start before the first run has ended.
    #[error("the context's program is running; wait for it first")]
    Running,
    /// Nothing was started.
    #[error("the context's program has not been started")]
    NotStarted,
    /// The program ended by a panic.
    #[error("the program panicked: {0}")]
    Panicked(String),
    /// The worker's thread is gone, or has lost its CPU.
    #[error(transparent)]
    Lost(#[from] Loss),
    /// A message was waited for that no program will send or take.
    #[error("the program on CPU {cpu} {how}, and a message to it or from it was waited for")]
    Silent {
        /// The worker's CPU.
        cpu: u32,
        /// How it ended.
        how: String,
    },
    /// The program waited for its controller, which waited for the program's end.
    #[error(
        "the program on CPU {cpu} waited for a message, or for room for one, while its controller \
         waited for its end, and was ended; send and read its messages before waiting"
    )]
    Waiting {
        /// The worker's CPU.
        cpu: u32,
    },
    /// The kernel's error for this process's CPUs.
    #[error("the CPUs of this process cannot be read")]
    Cpus(#[source] io::Error),
}
