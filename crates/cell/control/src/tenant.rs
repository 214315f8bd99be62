//! A cell that somebody asked the controller for.

use crate::answer::Phase;
use crate::gang::Stopped;
use crate::request::Create;

/// A cell that somebody asked the controller for.
#[derive(Clone, Debug)]
pub(crate) struct Tenant {
    /// What was asked for.
    pub create: Create,
    /// By whom.
    pub uid: u32,
    /// On which connection, while it lasts.
    pub connection: Option<u64>,
    /// The request's number there.
    pub request: u64,
    /// Where in its life it is.
    pub phase: Phase,
    /// Its threads, while it is suspended.
    pub stopped: Vec<Stopped>,
    /// What was wrong with it when it was last looked at.
    pub faults: Vec<String>,
    /// When its lease ends, in seconds after the boot.
    pub ends_s: Option<u64>,
    /// What its client was told of its place last.
    pub told: Option<(usize, usize)>,
}

impl Tenant {
    /// Seconds of its lease that are left.
    pub fn left_s(&self) -> Option<u64> {
        self.ends_s.map(|end| end.saturating_sub(seatmap_os::boot::seconds()))
    }
}
