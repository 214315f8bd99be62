//! A place in the queue.

use crate::wants::Wants;

/// A request's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Its number; later tickets have higher numbers.
    pub id: u64,
    /// Its user.
    pub uid: u32,
    /// Its priority, up to [`crate::policy::HIGHEST_PRIORITY`]; only one policy uses it.
    pub priority: u8,
    /// The CPUs that it needs.
    pub wants: Wants,
    /// Whether it can be suspended after a time slice, so that others can run.
    pub takes_turns: bool,
}
