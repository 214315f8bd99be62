//! The programs of CellStats: one primitive at a time, in a loop.
//!
//! After Abellán, Fernández & Acacio 2009, "Characterizing the basic synchronization and communication operations in dual
//! Cell-based blades through CellStats", section 3. Each task warms up, loops, and reports what its clock and its
//! decrementer say of the loop alone.

mod atomics;
mod exchange;
mod threads;
mod transfers;

pub use atomics::Atomics;
pub use exchange::{Exchange, Means};
pub use threads::Threads;
pub use transfers::{Source, Transfers};

use seatmap_port::channels::Channels;

/// What a task's clocks say of its loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// When the loop began, in cycles of the machine's clock.
    pub began: u64,
    /// When it ended.
    pub ended: u64,
    /// Ticks of the decrementer in between.
    pub ticks: u32,
    /// Operations; 0 for a task that only lends its local store.
    pub operations: u64,
    /// Whatever the operations computed, for comparing machines.
    pub sum: u64,
}

/// Runs an operation to warm up and then in a timed loop.
fn timed<C: Channels>(channels: &C, warm_up: u64, iterations: u64, mut operation: impl FnMut(u64) -> u64) -> Timed {
    let mut sum = (0..warm_up).fold(0_u64, |sum, round| sum.wrapping_add(operation(round)));
    let (began, first) = (channels.cycles(), channels.decrementer());
    for round in warm_up..warm_up + iterations {
        sum = sum.wrapping_add(operation(round));
    }
    // It counts down.
    let ticks = first.wrapping_sub(channels.decrementer());
    Timed { began, ended: channels.cycles(), ticks, operations: iterations, sum }
}
