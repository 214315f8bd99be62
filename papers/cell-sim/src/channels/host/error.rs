//! Errors that prevent a program from running on the host.

use crate::channels::DmaError;
use crate::channels::lines::TooLarge;
use seatmap_data::statistics::words::counted;
use seatmap_machines::host::crew::CrewError;
use seatmap_machines::host::topology::TopologyError;
use seatmap_os::CpuError;
use std::io;

/// An error of running a program over channels on the host.
#[derive(Debug, thiserror::Error)]
pub enum BedError {
    /// The program has more tasks than there are CPUs.
    #[error(
        "the program has {} and this process may use {}: tasks spin while they wait, so two on one \
         CPU would wait forever; run fewer, or run it on a model ('--on cell-qs20')",
        counted(*.tasks, "task"),
        counted(*.cpus, "CPU")
    )]
    TooMany {
        /// Tasks of the program.
        tasks: usize,
        /// Number of CPUs.
        cpus: usize,
    },
    /// The numbers of tasks and seats differ.
    #[error("each task of a program needs a seat; tasks: {tasks}, seats: {seats}")]
    Seats {
        /// Tasks of the program.
        tasks: usize,
        /// Seats given.
        seats: usize,
    },
    /// A CPU is not available.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// The topology could not be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A system call failed.
    #[error("{what}")]
    System {
        /// The failed action.
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The program needs more memory than addresses reach.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A thread could not be pinned.
    #[error(transparent)]
    Crew(#[from] CrewError),
    /// The hardware would reject a task's transfer.
    #[error("task {rank} was refused")]
    Refused {
        /// The task.
        rank: usize,
        /// The reason.
        source: DmaError,
    },
    /// A task panicked.
    #[error("task {rank} panicked")]
    Panicked {
        /// The task.
        rank: usize,
    },
}
