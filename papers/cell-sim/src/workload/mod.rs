//! The programs of the published experiments over channels, for the Cell, coherent models and this
//! computer.
//!
//! | workload | is |
//! |---|---|
//! | [`stats`] | CellStats: one primitive at a time |
//! | [`BarrierBySignal`] | a barrier of signals |
//! | [`CollectiveWorkload`] | broadcast and reduction by messages |
//! | [`mod@long_messages`] | long messages along a pattern: affinities on the Cell |
//! | [`mod@mandelbrot`] | coordinators and workers that render images: Liu et al. 2015 |
//! | [`ProducerConsumer`] | values through a spin-locked channel of one: Liu et al. 2015 |
//! | [`MessageRing`] | packets around a ring with a message library: task mapping on the Cell |

mod barrier_by_signal;
mod collective;
pub mod long_messages;
pub mod mandelbrot;
mod message_ring;
mod producer_consumer;
pub mod stats;

pub use barrier_by_signal::{BarrierBySignal, BarrierMethod};
pub use collective::{CollectiveKind, CollectiveWorkload};
pub use long_messages::{LongMessage, LongMessageResult, LongMessages, messages_ns};
pub use mandelbrot::{Mandelbrot, MandelbrotView};
pub use message_ring::{MessageLibrary, MessageRing, MessageRingOver, MessageRingResult};
pub use producer_consumer::{Handed, ProducerConsumer};
