//! Barriers made of signals.

use crate::stats::Timed;
use seatmap_port::channels::{Channels, MESSAGE_TAG, Program, Register, Shape};

/// How the tasks of a barrier find each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Everybody signals task 0, which signals everybody.
    Naive,
    /// Each signals its parent in a binary tree over all tasks, and the way back.
    Tree,
    /// As naive, but each chip has a root of its own, and the roots tell each other.
    TwoRoots,
}

/// All tasks wait for each other, by signals (CellStats, section 5.2, after Gaona, Fernández & Acacio 2009). Signal registers
/// gather bits, so that a root hears many at once; a barrier and the next use different registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierBySignal {
    /// How.
    pub way: Way,
    /// Tasks, 32 at most: a bit each.
    pub tasks: usize,
    /// Tasks of the first chip; the others are on the second.
    pub first_chip: usize,
    /// Whether a task waits for each signal to arrive before it sends the next, as CellStats' operations do.
    pub is_blocking: bool,
    /// Barriers.
    pub iterations: u64,
}

/// The bit of a root's answer, and of a parent's.
const GO: u32 = 1 << 31;

impl Program for BarrierBySignal {
    type Output = Timed;

    fn shape(&self) -> Shape {
        Shape { tasks: self.tasks, local_bytes: 128, memory_bytes: 128, signals_or: true }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> Timed {
        let member = Member { barrier: self, channels, rank };
        let began = channels.cycles();
        for _ in 0..self.iterations {
            match self.way {
                Way::Naive => member.under_root(0, 0..self.tasks, &[]),
                Way::Tree => member.in_tree(),
                Way::TwoRoots => member.under_two_roots(),
            }
        }
        let ended = channels.cycles();
        Timed { began, ended, operations: self.iterations, ..Timed::default() }
    }
}

struct Member<'a, C> {
    barrier: &'a BarrierBySignal,
    channels: &'a C,
    rank: usize,
}

impl<C: Channels> Member<'_, C> {
    /// Signals of children arrive in the first register, the word to go on in the second.
    fn gather(&self, mut missing: u32) {
        while missing != 0 {
            missing &= !self.channels.signal_read(Register::One);
        }
    }

    fn arrive_at(&self, root: usize) {
        self.channels.signal(root, Register::One, 1 << self.rank);
        self.channels.signal_read(Register::Two);
    }

    fn release(&self, member: usize) {
        self.channels.signal(member, Register::Two, GO);
        if self.barrier.is_blocking {
            self.channels.wait_tags(1 << MESSAGE_TAG);
        }
    }

    /// One root for these tasks; before it releases them it meets the other roots.
    fn under_root(&self, root: usize, members: std::ops::Range<usize>, others: &[usize]) {
        if self.rank != root {
            return self.arrive_at(root);
        }
        let bits = members.clone().filter(|member| *member != root).fold(0, |bits, member| bits | 1 << member);
        self.gather(bits);
        others.iter().for_each(|other| self.channels.signal(*other, Register::Two, GO));
        for _ in others {
            self.channels.signal_read(Register::Two);
        }
        members.filter(|member| *member != root).for_each(|member| self.release(member));
    }

    fn under_two_roots(&self) {
        let (first, tasks) = (self.barrier.first_chip.min(self.barrier.tasks), self.barrier.tasks);
        match (first < tasks, self.rank < first) {
            (false, _) => self.under_root(0, 0..tasks, &[]),
            (true, true) => self.under_root(0, 0..first, &[first]),
            (true, false) => self.under_root(first, first..tasks, &[0]),
        }
    }

    fn in_tree(&self) {
        let children = [2 * self.rank + 1, 2 * self.rank + 2].into_iter().filter(|child| *child < self.barrier.tasks);
        let bits = children.clone().fold(0, |bits, child| bits | 1 << child);
        if bits != 0 {
            self.gather(bits);
        }
        if self.rank > 0 {
            self.arrive_at((self.rank - 1) / 2);
        }
        children.for_each(|child| self.release(child));
    }
}
