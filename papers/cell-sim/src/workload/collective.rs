//! Collective operations: from one task to all, and from all to one.

use super::stats::LoopTimes;
use crate::channels::{ChannelProgram, Channels, Ea, ProgramNeeds, SignalNumber, TransferOrder};

/// The collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveKind {
    /// All tasks receive task 0's bytes.
    Broadcast,
    /// Task 0 receives the sum of all tasks' words.
    Reduce,
}

/// A broadcast or a reduction over a binary tree of local stores (CellStats, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveWorkload {
    /// The operation.
    pub kind: CollectiveKind,
    /// Tasks, at most 32.
    pub tasks: usize,
    /// Bytes, a multiple of 16 up to 16 KiB.
    pub size_bytes: u32,
    /// Operations.
    pub iterations: u64,
}

impl ChannelProgram for CollectiveWorkload {
    type Output = LoopTimes;

    fn shape(&self) -> ProgramNeeds {
        // The task's own buffer, and a receive buffer for each of two children.
        ProgramNeeds {
            tasks: self.tasks,
            local_bytes: 3 * self.size_bytes + 128,
            memory_bytes: 128,
            signals_or: true,
        }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> LoopTimes {
        let member = Member { of: self, channels, rank };
        channels.begin_together(self.tasks);
        let began = channels.cycles();
        let mut sum = 0;
        for round in 0..self.iterations {
            sum = match self.kind {
                CollectiveKind::Broadcast => member.broadcast(round as u32),
                CollectiveKind::Reduce => member.reduce(round as u32),
            };
        }
        let ended = channels.cycles();
        LoopTimes {
            began,
            ended,
            until: ended,
            operations: self.iterations,
            sum: u64::from(sum),
            ticks: 0,
        }
    }
}

const THERE: u32 = 1 << 31;

struct Member<'a, C> {
    of: &'a CollectiveWorkload,
    channels: &'a C,
    rank: usize,
}

impl<C: Channels> Member<'_, C> {
    fn children(&self) -> impl Iterator<Item = usize> {
        let tasks = self.of.tasks;
        [2 * self.rank + 1, 2 * self.rank + 2].into_iter().filter(move |child| *child < tasks)
    }

    fn parent(&self) -> usize {
        (self.rank - 1) / 2
    }

    fn hear(&self, mut missing: u32) {
        while missing != 0 {
            missing &= !self.channels.signal_read(SignalNumber::One);
        }
    }

    fn bits(&self) -> u32 {
        self.children().fold(0, |bits, child| bits | 1 << child)
    }

    fn fetch(&self, from: usize, into: u32) {
        let there = Ea::Local { rank: from as u16, offset: 0 };
        self.channels.get(into, there, self.of.size_bytes, 0, TransferOrder::Free);
        self.channels.wait_tags(1);
    }

    fn word(&self, at: u32) -> u32 {
        let mut bytes = [0; 4];
        self.channels.peek(at, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn broadcast(&self, round: u32) -> u32 {
        if self.rank == 0 {
            self.channels.poke(0, &(round + 7).to_le_bytes());
        } else {
            self.channels.signal_read(SignalNumber::Two);
            self.fetch(self.parent(), 0);
        }
        self.children().for_each(|child| self.channels.signal(child, SignalNumber::Two, THERE));
        // A task overwrites its data only after its children's signals that they have fetched it.
        self.hear(self.bits());
        if self.rank > 0 {
            self.channels.signal(self.parent(), SignalNumber::One, 1 << self.rank);
        }
        self.word(0)
    }

    fn reduce(&self, round: u32) -> u32 {
        // Children first: a task needs their sums before it signals its parent.
        self.hear(self.bits());
        let mut sum = round + self.rank as u32;
        for (at, child) in self.children().enumerate() {
            let into = (1 + at as u32) * self.of.size_bytes;
            self.fetch(child, into);
            sum = sum.wrapping_add(self.word(into));
            // Per 16 bytes, an addition, the loads and the store take a cycle each.
            self.channels.compute(u64::from(self.of.size_bytes / 16) * 3);
        }
        self.channels.poke(0, &sum.to_le_bytes());
        if self.rank > 0 {
            self.channels.signal(self.parent(), SignalNumber::One, 1 << self.rank);
            self.channels.signal_read(SignalNumber::Two);
        }
        self.children().for_each(|child| self.channels.signal(child, SignalNumber::Two, THERE));
        sum
    }
}
