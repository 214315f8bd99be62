//! A job: a cell requested from the controller.

use crate::answer::CellPhase;
use crate::gang::StoppedThread;
use crate::request::Create;

#[derive(Clone, Debug)]
pub struct Job {
    pub create: Create,
    pub uid: u32,
    /// The client's connection, while it lasts.
    pub connection: Option<u64>,
    /// The request's number on that connection.
    pub request: u64,
    pub phase: CellPhase,
    /// Its stopped threads while it is suspended.
    pub stopped: Vec<StoppedThread>,
    pub faults: Vec<String>,
    /// Its lease's end, in seconds since boot.
    pub ends_s: Option<u64>,
    /// The place in the queue last sent to its client.
    pub place_sent: Option<(usize, usize)>,
}

impl Job {
    pub fn left_s(&self) -> Option<u64> {
        self.ends_s.map(|end| end.saturating_sub(seatmap_os::boot::seconds()))
    }
}
