//! Errors of a noise measurement.

use seatmap_data::document::Blame;
use seatmap_os::holder::Holder;
use seatmap_os::{CpuError, cpu_list};
use std::io;
use std::path::PathBuf;

/// Why noise could not be measured. Figures from a moved thread are discarded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The list of CPUs is empty.
    #[error("no CPU to measure")]
    Nothing,
    /// A CPU is listed twice.
    #[error("CPU {0} is listed twice; a CPU has only one meter")]
    Twice(u32),
    /// A CPU does not exist or is offline.
    #[error(transparent)]
    Cpu(CpuError),
    /// A CPU is outside the meters' cpuset.
    #[error(
        "CPU {cpu} is outside the meter's cpuset {cpuset}: {}",
        .holder.or("measure from a cpuset with this CPU")
    )]
    Cpuset {
        /// CPU.
        cpu: u32,
        /// Cpuset's path below the root of the hierarchy.
        cpuset: String,
        /// Cell with this CPU, if any.
        holder: Holder,
    },
    /// The kernel refuses a thread or its pinning for another reason.
    #[error("cannot pin a meter to CPU {cpu}")]
    Seat {
        /// CPU.
        cpu: u32,
        /// Kernel's error.
        source: io::Error,
    },
    /// A control group refuses the meter.
    #[error("cannot move the meter of CPU {cpu} into {}", path.display())]
    Enter {
        /// CPU.
        cpu: u32,
        /// File written to.
        path: PathBuf,
        /// Kernel's error.
        source: io::Error,
    },
    /// A meter is no longer on its CPU.
    #[error(
        "the meter was moved off CPU {cpu} to {} during the measurement; its figures were \
         discarded",
        cpu_list::named(.found)
    )]
    Moved {
        /// CPU.
        cpu: u32,
        /// Thread's CPUs now.
        found: String,
    },
    /// A meter was moved away from its CPU and back.
    #[error(
        "the meter was moved off CPU {cpu} and back during the measurement; its figures were \
         discarded"
    )]
    MovedAndBack {
        /// CPU.
        cpu: u32,
    },
    /// The kernel's trace is unavailable.
    #[error(
        "cannot trace the kernel: run as root of the host, on a kernel with tracefs \
         (CONFIG_FTRACE)"
    )]
    Trace(#[source] io::Error),
    /// A meter ended without a result.
    #[error("the meter on CPU {0} panicked")]
    Lost(u32),
}

impl Blame for Error {
    fn is_input(&self) -> bool {
        matches!(self, Error::Nothing | Error::Twice(_) | Error::Cpu(_) | Error::Cpuset { .. })
    }
}
