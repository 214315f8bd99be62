//! The methods of observing communication.

use serde::Serialize;
use std::fmt;

/// Each method observes some kinds and misses others: [`Method::misses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The kernel's `sched_waking` events: which thread ended which thread's wait.
    Wakeups,
    /// Bytes over pipes, unix sockets and TCP on this computer.
    Sockets,
    /// Goroutines of Go programs: which thread ended their wait, and which one continued them.
    Goroutines,
    /// Every memory access, in a program built with `-fsanitize=thread` and linked with
    /// `libseatmap_trace`.
    Tsan,
    /// Messages between MPI ranks, through MPI's profiling interface.
    Mpi,
    /// Shared cache lines, sampled by the processor (IBS, PEBS, SPE).
    C2c,
}

impl Method {
    /// Every method, the cheapest first.
    pub const ALL: [Method; 6] = [
        Method::Wakeups,
        Method::Sockets,
        Method::Goroutines,
        Method::Mpi,
        Method::C2c,
        Method::Tsan,
    ];

    /// Communication that the method cannot observe, as the end of a sentence.
    pub fn misses(self) -> &'static str {
        match self {
            Method::Wakeups => {
                "threads that spin instead of waiting, and how many bytes they exchange"
            }
            Method::Sockets => "memory that threads share, and TCP to other computers",
            Method::Goroutines => {
                "goroutines that need not wait, and those that a thread hands itself"
            }
            Method::Tsan => "code built without -fsanitize=thread, such as the C library",
            Method::Mpi => "threads within a rank, and messages that MPI sends on its own behalf",
            Method::C2c => "lines that no sample hit, and memory shared between processes",
        }
    }
}

/// The name on the command line and in files.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.serialize(f)
    }
}
