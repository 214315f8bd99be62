//! Programs that are written once, generic over `Port`, and run both on the host and in the
//! simulator.
//!
//! | workload | is |
//! |---|---|
//! | [`PingPong`] | one cache line back and forth between two tasks, for any number of pairs at once: core distance |
//! | [`LineByLine`] | the same over one line after the other: which home each has |
//! | [`BarrierBySignal`], [`Collective`] | barriers, broadcast, reduction: what messages are good for |
//! | [`mod@long_messages`] | long messages along a pattern: affinities on the Cell |
//! | [`MessageRing`] | packets around a ring by a message library: task mapping on the Cell |
//! | [`Handoffs`] | messages along a pattern over spin-locked channels: what a coherent machine makes of traffic |
//! | [`mod@mandelbrot`] | coordinators and workers that render images point by point |
//! | [`ProducerConsumer`] | values through a spin-locked channel of one: what placing a pair well is worth |
//! | [`stats`] | CellStats: one primitive at a time |
//! | [`elapsed_ticks`], [`messages_ns`], [`handoffs_ns`] | how long a program took |
//! | [`Touch`] | one task writes into pages, so that the kernel puts them on its node |
#![deny(missing_docs)]

mod barrier_by_signal;
mod collective;
mod handoffs;
mod line_by_line;
pub mod long_messages;
pub mod mandelbrot;
mod message_ring;
mod ping_pong;
mod producer_consumer;
mod spin_channel;
pub mod stats;
mod timing;
mod touch;

pub use barrier_by_signal::{BarrierBySignal, Way};
pub use collective::{Collective, CollectiveKind};
pub use handoffs::{Exchanged, Handoff, Handoffs, MOST_MESSAGES};
pub use line_by_line::LineByLine;
pub use long_messages::{LongMessages, Message, Moved};
pub use mandelbrot::Mandelbrot;
pub use message_ring::{MessageLibrary, MessageRing, MessageRingOver, Taken};
pub use ping_pong::{PingPong, Trace};
pub use producer_consumer::{Handed, ProducerConsumer};
pub use spin_channel::{MOST_WORDS, SpinChannel};
pub use timing::{elapsed_ticks, handoffs_ns, messages_ns};
pub use touch::Touch;
