//! Programs written once, generic over `Port`, run on the host and in the simulator alike.
//!
//! | workload | is |
//! |---|---|
//! | [`PingPong`] | one cache line back and forth between two tasks, for any number of pairs at once: core distance |
//! | [`MessageRing`] | packets around a ring by a message library: task mapping on the Cell |
//! | [`Touch`] | one task writes into pages, so that the kernel puts them on its node |
#![deny(missing_docs)]

mod message_ring;
mod ping_pong;
mod touch;

pub use message_ring::{MessageRing, Taken};
pub use ping_pong::{PingPong, Trace};
pub use touch::Touch;
