//! How long and how closely a seating is watched.

use seatmap_os::Root;
use std::time::Duration;

/// How long and how closely a seating is watched, and the most that is read for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// The computer; tests set another root than `/`.
    pub root: Root,
    /// The time between the first look at all threads and the last.
    pub window: Duration,
    /// The time between short looks, which find the CPUs that busy threads run on.
    pub glance_every: Duration,
    /// Whether the kernel's scheduler counts where the threads run, which needs the rights to load
    /// programs into it. Without them, and without this, short looks find it.
    pub trace: bool,
    /// Whether every CPU that runs is looked at, and not only those where the threads may run.
    pub every_cpu: bool,
    /// For how many processes the kernel is asked where their memory is, which takes it about 10 ms
    /// a GiB; 0 leaves the memory out.
    pub memory_processes: usize,
    /// The most threads on the computer with which threads of other programs are looked for. That
    /// takes two reads of a small file a thread, about 10 us together; 0 leaves them out.
    pub stranger_threads: u64,
    /// The most threads for which changes of CPU are read, from a file that is longer than the
    /// others together.
    pub migration_threads: usize,
}

/// The most threads on the computer with which other programs are looked for where nothing else is
/// said.
pub(crate) const STRANGER_THREADS: u64 = 20_000;

impl Default for WatchOptions {
    fn default() -> Self {
        WatchOptions {
            root: Root::new("/"),
            window: Duration::from_millis(500),
            glance_every: Duration::from_millis(25),
            trace: false,
            every_cpu: false,
            memory_processes: 256,
            stranger_threads: STRANGER_THREADS,
            migration_threads: 256,
        }
    }
}
