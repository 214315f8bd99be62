//! The ways in which one thread talks to another.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A way in which one thread talks to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Mutexes, condition variables, semaphores, joins: futex(2).
    Futex,
    /// Pipes and FIFOs.
    Pipe,
    /// Sockets: unix, and TCP and UDP on this computer.
    Socket,
    /// Events: eventfd(2), and other descriptors that are not files.
    Eventfd,
    /// Goroutines of Go: channels, locks and timers of its runtime.
    Goroutine,
    /// Cache lines that passed from one thread to another.
    Line,
    /// Messages of MPI.
    Message,
    /// Signals, ends of processes, terminals, and waits within the kernel.
    Other,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 8] = [
        Kind::Futex,
        Kind::Pipe,
        Kind::Socket,
        Kind::Eventfd,
        Kind::Goroutine,
        Kind::Line,
        Kind::Message,
        Kind::Other,
    ];

    /// The kind's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Futex => "futex",
            Kind::Pipe => "pipe",
            Kind::Socket => "socket",
            Kind::Eventfd => "eventfd",
            Kind::Goroutine => "goroutine",
            Kind::Line => "line",
            Kind::Message => "message",
            Kind::Other => "other",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
