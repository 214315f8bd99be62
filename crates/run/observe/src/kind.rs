//! Ways of communication.

use serde::Serialize;
use std::fmt;

/// A way in which threads communicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TalkKind {
    /// Mutexes, condition variables, semaphores, joins: futex(2).
    Futex,
    /// Pipes and FIFOs.
    Pipe,
    /// Sockets: unix, and TCP and UDP on this computer.
    Socket,
    /// Events: eventfd(2), and other descriptors without files.
    Eventfd,
    /// Go's goroutines: channels, locks and timers of its runtime.
    Goroutine,
    /// Cache lines that moved from one thread to another.
    Line,
    /// MPI messages.
    Message,
    /// Signals, ends of processes, terminals, and waits within the kernel.
    Other,
}

impl TalkKind {
    /// Every kind.
    pub const ALL: [TalkKind; 8] = [
        TalkKind::Futex,
        TalkKind::Pipe,
        TalkKind::Socket,
        TalkKind::Eventfd,
        TalkKind::Goroutine,
        TalkKind::Line,
        TalkKind::Message,
        TalkKind::Other,
    ];
}

impl fmt::Display for TalkKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.serialize(f)
    }
}
