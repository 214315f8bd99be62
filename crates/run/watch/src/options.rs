//! The duration and precision of a watch.

use seatmap_os::Root;
use std::time::Duration;

/// The duration and precision of a watch, and limits on its reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// The computer; tests set another root than `/`.
    pub root: Root,
    /// The time between the first look and the last.
    pub window: Duration,
    /// The time between short looks, which find the CPUs of busy threads.
    pub glance_every: Duration,
    /// Whether the scheduler counts the CPUs of threads, which requires the right to load programs
    /// into the kernel. Otherwise short looks find them.
    pub trace: bool,
    /// Whether to examine every online CPU, not only those of the threads.
    pub every_cpu: bool,
    /// The most processes whose memory is located, which takes the kernel about 10 ms per GiB; 0
    /// omits memory.
    pub memory_processes: usize,
    /// The most threads on the computer with which other programs are examined. This takes two
    /// reads of a small file per thread, about 10 us together; 0 omits them.
    pub stranger_threads: u64,
    /// The most threads whose changes of CPU are read, from a file longer than the others together.
    pub migration_threads: usize,
}

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
