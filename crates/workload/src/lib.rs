//! Programs written once, generic over `Port`, run on the host and in the simulator alike.
//!
//! | workload | is |
//! |---|---|
//! | [`PingPong`] | one cache line back and forth between two tasks, for any number of pairs at once: core distance |
//! | [`Touch`] | one task writes into pages, so that the kernel puts them on its node |
#![deny(missing_docs)]

mod ping_pong;
mod touch;

pub use ping_pong::{PingPong, Trace};
pub use touch::Touch;
