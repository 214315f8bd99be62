//! What is timed: packets forwarded around a ring, or long messages along a pattern.

use seatmap_port::channels::{Channels, Program, Shape};
use seatmap_workload::{LongMessages, MessageRing};

/// One of the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timed {
    /// As Keller & Varbanescu time mappings.
    Ring(MessageRing),
    /// As Sudheer et al. do.
    Long(LongMessages),
}

/// When a task began and ended, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// It began.
    pub began: u64,
    /// It ended.
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
