//! The duration and precision of a watch.

use seatmap_os::Root;
use std::time::Duration;

/// How to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// The computer; tests set another root than `/`.
    pub root: Root,
    /// The time between the first look and the last.
    pub window: Duration,
    /// Whether the scheduler counts the threads' CPUs, which requires the right to load programs
    /// into the kernel. Otherwise short looks find them.
    pub trace: bool,
    /// Whether to examine every online CPU, not only those of the threads.
    pub every_cpu: bool,
    /// The most processes whose memory is located, which takes about 10 ms per GiB; 0 omits memory.
    pub memory_processes: usize,
}

impl Default for WatchOptions {
    fn default() -> Self {
        WatchOptions {
            root: Root::new("/"),
            window: Duration::from_millis(500),
            trace: false,
            every_cpu: false,
            memory_processes: 256,
        }
    }
}
