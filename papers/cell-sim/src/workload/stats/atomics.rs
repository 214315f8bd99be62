//! Read-modify-write on words of main memory.

use super::{Loop, LoopTimes};
use crate::channels::{Atomic, ChannelProgram, Channels, Ea, ProgramNeeds};

/// Every task repeatedly changes a word: its own, or one for all tasks (CellStats, section 3.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicsWorkload {
    /// The operation.
    pub operation: Atomic,
    /// The operation's operand.
    pub operand: u32,
    /// Tasks.
    pub tasks: usize,
    /// Bytes between the tasks' words; `None` if all tasks share one word.
    pub stride_bytes: Option<u32>,
    /// The words' memory module.
    pub module: u8,
    /// Untimed operations before the timed ones.
    pub warm_up: u64,
    /// Timed operations.
    pub iterations: u64,
}

impl ChannelProgram for AtomicsWorkload {
    type Output = LoopTimes;

    fn shape(&self) -> ProgramNeeds {
        let last = self.stride_bytes.unwrap_or(0) * self.tasks as u32;
        ProgramNeeds {
            tasks: self.tasks,
            local_bytes: 128,
            memory_bytes: (last + 128).next_multiple_of(128),
            signals_or: false,
        }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> LoopTimes {
        let at = Ea::Memory {
            module: self.module,
            offset: self.stride_bytes.unwrap_or(0) * rank as u32,
        };
        let AtomicsWorkload { warm_up, iterations, tasks, .. } = *self;
        Loop { warm_up, iterations, tasks, repeats: Some(64) }.timed(channels, |rounds| {
            let times = rounds.end - rounds.start;
            channels.atomic_times(self.operation, at, self.operand, times);
            times
        })
    }
}
