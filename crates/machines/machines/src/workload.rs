//! Programs written once, generic over `Port`, which run both on the host and in the simulator.
//!
//! | workload | meaning |
//! |---|---|
//! | [`PingPong`] | one cache line back and forth in any number of pairs: core distance |
//! | [`LineByLine`] | the same over one line after the other: the home of each |
//! | [`Handoffs`] | messages along a pattern over spin-locked channels: traffic of lines |
//! | [`elapsed_ticks`], [`handoffs_ns`] | the time of a program |
//! | [`Touch`] | one task writes to pages, so that the kernel allocates them on its node |

use seatmap_data::port::Addr;

mod handoffs;
mod line_by_line;
mod ping_pong;
mod spin_channel;
mod timing;
mod touch;

pub use handoffs::{Exchanged, Handoff, Handoffs, MOST_MESSAGES};
pub use line_by_line::LineByLine;
pub use ping_pong::{PingPong, PingPongTimes};
pub use spin_channel::{MOST_WORDS, SpinChannel};
pub use timing::{elapsed_ticks, handoffs_ns};
pub use touch::Touch;

/// The number of lines up to the last of these words.
fn lines_up_to<'a>(words: impl IntoIterator<Item = &'a Addr>) -> u32 {
    words.into_iter().map(|word| word.line_index() + 1).max().unwrap_or(0)
}
