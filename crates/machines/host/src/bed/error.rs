//! What can keep a program from running here.

use crate::crew::CrewError;
use crate::topology::TopologyError;
use seatmap_os::CpuError;
use seatmap_port::channels::DmaError;
use seatmap_port::channels::lines::TooLarge;
use std::io;

/// Why the host could not run a program over channels.
#[derive(Debug, thiserror::Error)]
pub enum BedError {
    /// More tasks than CPUs.
    #[error(
        "the program has {tasks} tasks and this process may use {cpus} CPUs: tasks spin while they wait, so two on one CPU would wait for ever; run fewer, or run it on a model ('--on cell-qs20')"
    )]
    TooMany {
        /// Tasks of the program.
        tasks: usize,
        /// CPUs there are.
        cpus: usize,
    },
    /// Another number of tasks than of seats.
    #[error("the program has {tasks} tasks and was given {seats} seats")]
    Seats {
        /// Tasks of the program.
        tasks: usize,
        /// Seats given.
        seats: usize,
    },
    /// A CPU cannot be had.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// The topology could not be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The kernel refused something.
    #[error("{what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the kernel says.
        source: io::Error,
    },
    /// More memory than addresses reach.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A thread could not be seated.
    #[error(transparent)]
    Crew(#[from] CrewError),
    /// A task asked for a transfer that hardware would refuse.
    #[error("task {rank} was refused")]
    Refused {
        /// The task.
        rank: usize,
        /// Why.
        source: DmaError,
    },
    /// A task panicked.
    #[error("task {rank} panicked")]
    Panicked {
        /// The task.
        rank: usize,
    },
}
