//! A place in the queue.

use crate::wants::Wants;

/// A place in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Its number; later ones are larger.
    pub id: u64,
    /// The user that it belongs to.
    pub uid: u32,
    /// How urgent it is, up to [`crate::policy::HIGHEST_PRIORITY`]; only one policy asks.
    pub priority: u8,
    /// The CPUs that it wants.
    pub wants: Wants,
    /// Whether it may be suspended in favour of others, time slice by time slice.
    pub takes_turns: bool,
}
