//! The options of a noise measurement.

use std::path::PathBuf;
use std::time::Duration;

/// The duration of the measurement, the control groups of its threads, and whether to trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoiseOptions {
    /// The time for which both meters run, together.
    pub duration: Duration,
    /// Files of control groups that each meter's thread enters, in this order, before it is pinned:
    /// a v1 group's `tasks`, or a v2 group's `cgroup.threads`; each gets the thread's number. They
    /// must let the thread go where the CPUs are. A v2 group's `cgroup.procs` takes the whole
    /// process along, and who waits with it. A group may stay busy for a moment after the
    /// measurement: the kernel lets go of a thread later than its process does.
    pub enter: Vec<PathBuf>,
    /// Whether to trace, by the kernel's trace, which tasks had the CPU in the long gaps; this
    /// requires root.
    pub trace: bool,
}

impl Default for NoiseOptions {
    /// Two seconds, in the groups that the process is in.
    fn default() -> Self {
        NoiseOptions { duration: Duration::from_secs(2), enter: Vec::new(), trace: false }
    }
}
