//! The programs of CellStats: one primitive at a time, in a loop.
//!
//! After Abellán, Fernández & Acacio 2009, "Characterizing the basic synchronization and
//! communication operations in dual Cell-based blades through CellStats", section 3.

mod atomics;
mod exchange;
mod threads;
mod transfers;

pub use atomics::AtomicsWorkload;
pub use exchange::{MessageCarrier, MessageExchange};
pub use threads::EmptyThreads;
pub use transfers::{BufferLocation, Transfers};

use crate::channels::Channels;
use seatmap_data::port::TaskBeats;
use std::ops::Range;

/// A task's clock readings around its loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopTimes {
    /// The loop's start, in cycles of the machine's clock.
    pub began: u64,
    /// The loop's end.
    pub ended: u64,
    /// The end of the task's work: later than the loop's end if the task continued until the others
    /// had ended.
    pub until: u64,
    /// Decrementer ticks during the loop.
    pub ticks: u32,
    /// Operations; 0 for a task that only provides its local store.
    pub operations: u64,
    /// A sum of the operations' results, for comparing machines.
    pub sum: u64,
}

impl LoopTimes {
    /// The period in which the task worked.
    pub fn run(&self) -> TaskBeats {
        TaskBeats { beats: vec![self.began, self.ended, self.until], counted: 0..1 }
    }
}

#[derive(Clone, Copy)]
struct Loop {
    warm_up: u64,
    iterations: u64,
    tasks: usize,
    /// Operations that a finished task repeats between checks whether the others have finished.
    /// `None` if each operation needs another task.
    repeats: Option<u64>,
}

impl Loop {
    fn timed_each<C: Channels>(
        self,
        channels: &C,
        mut operation: impl FnMut(u64) -> u64,
    ) -> LoopTimes {
        self.timed(channels, |rounds| {
            rounds.fold(0_u64, |sum, round| sum.wrapping_add(operation(round)))
        })
    }

    /// Runs untimed operations, then timed ones, which start at the same time in all tasks. A task
    /// that finishes early continues, if it can, until all have finished.
    fn timed<C: Channels>(
        self,
        channels: &C,
        mut operations: impl FnMut(Range<u64>) -> u64,
    ) -> LoopTimes {
        let Loop { warm_up, iterations, tasks, repeats } = self;
        let before = operations(0..warm_up);
        channels.begin_together(tasks);
        let began = channels.cycles();
        let first = channels.decrementer();
        let sum = before.wrapping_add(operations(warm_up..warm_up + iterations));
        let ticks = first.wrapping_sub(channels.decrementer());
        let ended = channels.cycles();
        let kept_on =
            repeats.and_then(|repeats| channels.keep_on(tasks, &mut || _ = operations(0..repeats)));
        LoopTimes {
            began,
            ended,
            until: kept_on.unwrap_or(ended),
            ticks,
            operations: iterations,
            sum,
        }
    }
}
