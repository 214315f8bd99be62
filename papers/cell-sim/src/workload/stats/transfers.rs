//! Bulk transfers.

use super::{Loop, LoopTimes};
use crate::channels::{ChannelProgram, Channels, Ea, Element, ProgramNeeds, TransferOrder};

/// The other end of every transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLocation {
    /// Main memory in this module.
    Memory(u8),
    /// Task 0's local store; task 0 transfers nothing.
    FirstLocal,
}

/// Every task repeatedly transfers a buffer and waits for it: its own buffer, or one for all tasks
/// (CellStats, section 3.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfers {
    /// Whether transfers are gets; otherwise puts.
    pub is_get: bool,
    /// Tasks, including task 0 if it only provides its local store.
    pub tasks: usize,
    /// Bytes per transfer, or per element of a list.
    pub size_bytes: u32,
    /// Elements per list; `None` for plain transfers.
    pub elements: Option<usize>,
    /// Bytes between the tasks' buffers; `None` if all tasks share one buffer.
    pub stride_bytes: Option<u32>,
    /// The buffers' location.
    pub source: BufferLocation,
    /// Untimed operations before the timed ones.
    pub warm_up: u64,
    /// Timed operations.
    pub iterations: u64,
}

impl Transfers {
    /// Bytes per operation.
    pub fn operation_bytes(&self) -> u64 {
        u64::from(self.size_bytes) * self.elements.unwrap_or(1) as u64
    }

    fn buffers_bytes(&self) -> u64 {
        self.operation_bytes() + u64::from(self.stride_bytes.unwrap_or(0)) * self.tasks as u64
    }
}

impl ChannelProgram for Transfers {
    type Output = LoopTimes;

    fn shape(&self) -> ProgramNeeds {
        let own = self.operation_bytes();
        let lent = if self.source == BufferLocation::FirstLocal { self.buffers_bytes() } else { 0 };
        ProgramNeeds {
            tasks: self.tasks,
            local_bytes: with_header(own.max(lent)),
            memory_bytes: if lent == 0 { with_header(self.buffers_bytes()) } else { 128 },
            signals_or: false,
        }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> LoopTimes {
        let first = usize::from(self.source == BufferLocation::FirstLocal);
        if rank < first {
            return LoopTimes::default();
        }
        let offset = self.stride_bytes.unwrap_or(0) * (rank - first) as u32;
        let there = match self.source {
            BufferLocation::Memory(module) => Ea::Memory { module, offset },
            BufferLocation::FirstLocal => Ea::Local { rank: 0, offset },
        };
        let list: Vec<Element> = (0..self.elements.unwrap_or(0))
            .map(|at| Element {
                ea: there.further(at as u32 * self.size_bytes),
                size: self.size_bytes,
            })
            .collect();
        let Transfers { warm_up, iterations, tasks, .. } = *self;
        Loop { warm_up, iterations, tasks: tasks - first, repeats: Some(1) }.timed_each(
            channels,
            |_| {
                self.transfer(channels, there, &list);
                channels.wait_tags(1);
                1
            },
        )
    }
}

fn with_header(bytes: u64) -> u32 {
    u32::try_from(bytes + 128).unwrap_or(u32::MAX)
}

impl Transfers {
    fn transfer<C: Channels>(&self, channels: &C, there: Ea, list: &[Element]) {
        // The last four bits of both addresses must agree.
        let local = there.offset() % 16;
        match (self.elements, self.is_get) {
            (None, true) => channels.get(local, there, self.size_bytes, 0, TransferOrder::Free),
            (None, false) => channels.put(local, there, self.size_bytes, 0, TransferOrder::Free),
            (Some(_), true) => channels.get_list(local, list, 0, TransferOrder::Free),
            (Some(_), false) => channels.put_list(local, list, 0, TransferOrder::Free),
        }
    }
}
