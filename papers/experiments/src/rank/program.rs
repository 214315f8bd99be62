//! The programs that are timed: packets forwarded around a ring, or long messages along a pattern.

use seatmap_cell_sim::workload::{LongMessages, MessageRingOver};
use seatmap_data::port::channels::{Bed, Channels, Program, Shape};
use seatmap_machines::workload::elapsed_ticks;

/// A program that is timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timed {
    /// As Keller & Varbanescu time mappings.
    Ring(MessageRingOver),
    /// Long messages along a pattern, as Sudheer et al. send them.
    Long(LongMessages),
}

/// When a task began and ended, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The time at which it began.
    pub began: u64,
    /// The time at which it ended.
    pub ended: u64,
}

impl Program for Timed {
    type Output = Span;

    fn shape(&self) -> Shape {
        match self {
            Timed::Ring(ring) => ring.shape(),
            Timed::Long(messages) => messages.shape(),
        }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> Span {
        match self {
            Timed::Ring(ring) => {
                let taken = ring.task(channels, rank);
                Span { began: taken.began, ended: taken.ended }
            }
            Timed::Long(messages) => {
                let moved = messages.task(channels, rank);
                Span { began: moved.began, ended: moved.ended }
            }
        }
    }
}

/// Nanoseconds from the first task's beginning to the last one's end.
///
/// # Errors
/// The machine could not run it there.
pub fn time_ns<B: Bed>(
    bed: &mut B,
    program: &Timed,
    seats: &[u32],
    seed: u64,
) -> Result<f64, B::Error> {
    let tasks = bed.run(seats, program, seed)?;
    let ticks = elapsed_ticks(tasks.iter().map(|task| (task.began, task.ended)));
    Ok(ticks as f64 * bed.ns_per_cycle())
}
