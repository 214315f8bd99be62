//! Thread creation.

use super::{Loop, LoopTimes};
use crate::channels::{ChannelProgram, Channels, OsService, ProgramNeeds};

/// A controller repeatedly creates an empty thread and joins it (CellStats, section 3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyThreads {
    /// Untimed operations before the timed ones.
    pub warm_up: u64,
    /// Timed operations.
    pub iterations: u64,
}

impl ChannelProgram for EmptyThreads {
    type Output = LoopTimes;

    fn shape(&self) -> ProgramNeeds {
        ProgramNeeds { tasks: 1, local_bytes: 0, memory_bytes: 0, signals_or: false }
    }

    fn task<C: Channels>(&self, channels: &C, _rank: usize) -> LoopTimes {
        let EmptyThreads { warm_up, iterations } = *self;
        Loop { warm_up, iterations, tasks: 1, repeats: None }.timed_each(channels, |_| {
            channels.service(OsService::Thread);
            1
        })
    }
}
