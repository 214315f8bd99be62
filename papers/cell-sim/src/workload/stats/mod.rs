//! The programs of CellStats: one primitive at a time, in a loop.
//!
//! After Abellán, Fernández & Acacio 2009, "Characterizing the basic synchronization and
//! communication operations in dual Cell-based blades through CellStats", section 3. Each task
//! warms up, loops, and reports the readings of its clock and its decrementer for the loop alone.

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

/// The readings of a task's clocks around its loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopTimes {
    /// When the loop began, in cycles of the machine's clock.
    pub began: u64,
    /// When it ended.
    pub ended: u64,
    /// When the task stopped working. This is later than the loop's end if the task kept on until
    /// the others had ended, too.
    pub until: u64,
    /// Ticks of the decrementer while the loop ran.
    pub ticks: u32,
    /// Operations; 0 for a task that only lends its local store.
    pub operations: u64,
    /// A sum over the operations' results, for comparing machines.
    pub sum: u64,
}

impl LoopTimes {
    /// The times at which the task was at work.
    #[must_use]
    pub fn run(&self) -> TaskBeats {
        TaskBeats { beats: vec![self.began, self.ended, self.until], counted: 0..1 }
    }
}

/// A loop of operations, and the number of tasks that run such a loop at the same time.
#[derive(Clone, Copy)]
struct Loop {
    warm_up: u64,
    iterations: u64,
    /// Tasks with such a loop, including this one.
    tasks: usize,
    /// The number of operations that a task with its part done repeats before it looks whether the
    /// others have done theirs. `None` if each operation needs one of another task, so that no task
    /// can go on alone.
    repeats: Option<u64>,
}

impl Loop {
    /// Runs operations one by one, as [`Loop::timed`] does.
    fn timed_each<C: Channels>(
        self,
        channels: &C,
        mut operation: impl FnMut(u64) -> u64,
    ) -> LoopTimes {
        self.timed(channels, |rounds| {
            rounds.fold(0_u64, |sum, round| sum.wrapping_add(operation(round)))
        })
    }

    /// Runs operations to warm up and then timed ones, which begin together with those of the other
    /// tasks. A task that has done its part earlier keeps on until the others have done theirs, if
    /// it can.
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
        // The decrementer counts down.
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
