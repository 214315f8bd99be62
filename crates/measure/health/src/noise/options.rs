//! Options of a measurement.

use std::path::PathBuf;
use std::time::Duration;

/// Options of a noise measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoiseOptions {
    /// How long both meters run in total.
    pub duration: Duration,
    /// Control group files that each meter's thread enters, in this order, before it is pinned: a
    /// v1 group's `tasks` or a v2 group's `cgroup.threads`, but not its `cgroup.procs`, which moves
    /// the whole process. The groups must allow the CPUs. After the measurement a group may stay
    /// busy for a moment, because the kernel releases threads late.
    pub enter: Vec<PathBuf>,
    /// Whether the kernel's trace records the tasks on the CPU during long gaps; requires root.
    pub trace: bool,
}

impl Default for NoiseOptions {
    /// Two seconds, in the process's own groups.
    fn default() -> Self {
        NoiseOptions { duration: Duration::from_secs(2), enter: Vec::new(), trace: false }
    }
}
