//! Barriers made of signals.

use super::stats::LoopTimes;
use crate::channels::{ChannelProgram, Channels, MESSAGE_TAG, ProgramNeeds, SignalNumber};

/// The method by which tasks meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierMethod {
    /// All tasks signal task 0, which signals all of them.
    Naive,
    /// Each task signals its parent in a binary tree, and the release goes down the tree.
    Tree,
    /// As naive, but with a root on each chip; the two roots signal each other.
    TwoRoots,
}

/// A barrier of all tasks, by signals (CellStats, section 5.2, after Gaona, Fernández & Acacio
/// 2009). Signal registers gather bits, so a root can receive many signals at once; arrivals and
/// releases use different registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierBySignal {
    /// The method.
    pub way: BarrierMethod,
    /// Tasks, at most 30: one bit for each, and two more.
    pub tasks: usize,
    /// Tasks of the first chip; the others are on the second.
    pub first_chip: usize,
    /// Whether a task waits until a signal has arrived before it sends the next, like CellStats'
    /// operations.
    pub is_blocking: bool,
    /// Barriers.
    pub iterations: u64,
}

/// A release's bit. Every second round uses the bit below, because a root may receive the next
/// round's bit before it reads this round's.
const GO: u32 = 1 << 31;

impl ChannelProgram for BarrierBySignal {
    type Output = LoopTimes;

    fn shape(&self) -> ProgramNeeds {
        ProgramNeeds { tasks: self.tasks, local_bytes: 128, memory_bytes: 128, signals_or: true }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> LoopTimes {
        let mut member = Member { barrier: self, channels, rank, go: GO, heard: [0; 2] };
        channels.begin_together(self.tasks);
        let began = channels.cycles();
        for _ in 0..self.iterations {
            // The bits alternate, so that a fast task's signal for the next barrier is not taken
            // for this one's.
            member.go = if member.go == GO { GO >> 1 } else { GO };
            match self.way {
                BarrierMethod::Naive => member.under_root(0, 0..self.tasks, None),
                BarrierMethod::Tree => member.in_tree(),
                BarrierMethod::TwoRoots => member.under_two_roots(),
            }
        }
        let ended = channels.cycles();
        LoopTimes {
            began,
            ended,
            until: ended,
            operations: self.iterations,
            ..LoopTimes::default()
        }
    }
}

struct Member<'a, C> {
    barrier: &'a BarrierBySignal,
    channels: &'a C,
    rank: usize,
    go: u32,
    /// Bits of each register that arrived early.
    heard: [u32; 2],
}

impl<C: Channels> Member<'_, C> {
    /// Waits for bits: children's signals in the first register, releases in the second.
    fn hear(&mut self, register: SignalNumber, bits: u32) {
        let at = usize::from(register == SignalNumber::Two);
        // A register is read as a whole, so early bits are kept.
        while self.heard[at] & bits != bits {
            self.heard[at] |= self.channels.signal_read(register);
        }
        self.heard[at] &= !bits;
    }

    fn arrive_at(&mut self, root: usize) {
        self.channels.signal(root, SignalNumber::One, 1 << self.rank);
        self.hear(SignalNumber::Two, self.go);
    }

    fn release(&self, member: usize) {
        self.channels.signal(member, SignalNumber::Two, self.go);
        if self.barrier.is_blocking {
            self.channels.wait_tags(1 << MESSAGE_TAG);
        }
    }

    fn under_root(&mut self, root: usize, members: std::ops::Range<usize>, other: Option<usize>) {
        if self.rank != root {
            return self.arrive_at(root);
        }
        let bits = members
            .clone()
            .filter(|member| *member != root)
            .fold(0, |bits, member| bits | 1 << member);
        self.hear(SignalNumber::One, bits);
        if let Some(other) = other {
            self.channels.signal(other, SignalNumber::Two, self.go);
            self.hear(SignalNumber::Two, self.go);
        }
        members.filter(|member| *member != root).for_each(|member| self.release(member));
    }

    fn under_two_roots(&mut self) {
        let first = self.barrier.first_chip.min(self.barrier.tasks);
        let tasks = self.barrier.tasks;
        match (first < tasks, self.rank < first) {
            (false, _) => self.under_root(0, 0..tasks, None),
            (true, true) => self.under_root(0, 0..first, Some(first)),
            (true, false) => self.under_root(first, first..tasks, Some(0)),
        }
    }

    fn in_tree(&mut self) {
        let children = [2 * self.rank + 1, 2 * self.rank + 2]
            .into_iter()
            .filter(|child| *child < self.barrier.tasks);
        let bits = children.clone().fold(0, |bits, child| bits | 1 << child);
        self.hear(SignalNumber::One, bits);
        if self.rank > 0 {
            self.arrive_at((self.rank - 1) / 2);
        }
        let children: Vec<usize> = children.collect();
        children.into_iter().for_each(|child| self.release(child));
    }
}
