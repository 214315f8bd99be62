//! A job: a cell that a client asked the controller for.

use crate::answer::CellPhase;
use crate::gang::StoppedThread;
use crate::request::Create;

/// A job: a cell that a client asked the controller for.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The request for it.
    pub create: Create,
    /// The user who asked for it.
    pub uid: u32,
    /// The connection that made it, while it lasts.
    pub connection: Option<u64>,
    /// The request's number there.
    pub request: u64,
    /// The phase of its life.
    pub phase: CellPhase,
    /// Its threads, while it is suspended.
    pub stopped: Vec<StoppedThread>,
    /// Its faults at the last check.
    pub faults: Vec<String>,
    /// When its lease ends, in seconds after the boot.
    pub ends_s: Option<u64>,
    /// The place in the queue that its client was told last.
    pub place_sent: Option<(usize, usize)>,
}

impl Job {
    /// Seconds of its lease that are left.
    pub fn left_s(&self) -> Option<u64> {
        self.ends_s.map(|end| end.saturating_sub(seatmap_os::boot::seconds()))
    }
}
