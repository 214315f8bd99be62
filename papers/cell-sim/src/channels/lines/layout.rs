//! The layout of shared memory.

use super::lane::LaneHalf;
use crate::channels::{ProgramNeeds, SignalNumber};
use seatmap_data::port::{Addr, LINE_BYTES, WORDS_PER_LINE};

/// Lines between two contended words: x86-64 fetches neighbouring lines in pairs, and POWER has
/// lines of 128 bytes.
const APART: u64 = 2;

/// Lines of a 4 KiB page. Data that belongs on a separate node starts on a separate page.
const PAGE: u64 = 4096 / LINE_BYTES as u64;

/// The parts of shared memory:
///
/// | part | lines | holds |
/// |---|---|---|
/// | gate | 2 | the barrier before the start |
/// | ended | 2 | a word that is nonzero after a task has failed |
/// | lanes | 2 for each pair of tasks | the messages between them |
/// | outboxes | 4 for each task | the entry, and the number of values read |
/// | signals | 4 for each task | two registers |
/// | local stores | whole pages for each task | bytes |
/// | memory | whole pages for each module | bytes |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelLayout {
    shape: ProgramNeeds,
    modules: usize,
    lines: u32,
}

/// The program needs more memory than [`Addr`] can address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
// Plural: one task needs less.
#[error("{tasks} tasks and their memory take {bytes} bytes, and shared memory ends at 32 GiB")]
pub struct TooLarge {
    /// Tasks.
    pub tasks: usize,
    /// Needed bytes.
    pub bytes: u64,
}

impl ChannelLayout {
    /// Computes the layout for a program of this shape on `modules` memory modules.
    ///
    /// # Errors
    /// [`TooLarge`] if [`Addr`] cannot address it.
    pub fn new(shape: ProgramNeeds, modules: usize) -> Result<Self, TooLarge> {
        let tasks = shape.tasks as u64;
        let modules = modules.max(1);
        let pages =
            tasks * pages_in(shape.local_bytes) + modules as u64 * pages_in(shape.memory_bytes);
        let lines = first_local(tasks) + pages * PAGE;
        // Every word of every line needs an address.
        match u32::try_from(lines).ok().filter(|lines| lines.checked_mul(WORDS_PER_LINE).is_some())
        {
            Some(lines) => Ok(ChannelLayout { shape, modules, lines }),
            None => Err(TooLarge { tasks: shape.tasks, bytes: lines * LINE_BYTES as u64 }),
        }
    }

    /// The program's shape.
    pub fn shape(&self) -> ProgramNeeds {
        self.shape
    }

    /// Memory modules.
    pub fn modules(&self) -> usize {
        self.modules
    }

    /// All lines.
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// The word of the barrier before the start.
    pub fn gate(&self) -> Addr {
        Addr(0)
    }

    /// The word that is nonzero after a task has failed, so that others stop waiting for it.
    pub fn ended(&self) -> Addr {
        line(APART)
    }

    /// The lane from one task to another; the smaller rank writes the first half of their line.
    pub(super) fn lane(&self, from: usize, to: usize) -> LaneHalf {
        LaneHalf::of(self.pair(from, to), from > to)
    }

    fn pair(&self, one: usize, other: usize) -> Addr {
        let smaller = one.min(other) as u64;
        let larger = one.max(other) as u64;
        // Pairs are numbered row by row of a triangle, with the larger rank as the row.
        line(lanes() + APART * (triangle(larger) + smaller))
    }

    /// The line of a task's outbox, and the word that counts the values read from it.
    pub(super) fn outbox(&self, rank: usize) -> (Addr, Addr) {
        let first = outboxes(self.tasks()) + 2 * APART * rank as u64;
        (line(first), line(first + APART))
    }

    pub(super) fn signal(&self, rank: usize, register: SignalNumber) -> Addr {
        line(signals(self.tasks()) + APART * (2 * rank as u64 + register as u64))
    }

    /// The start of a task's local store.
    pub fn local(&self, rank: usize) -> Addr {
        line(first_local(self.tasks()) + rank as u64 * pages_in(self.shape.local_bytes) * PAGE)
    }

    /// A memory module's start.
    pub fn memory(&self, module: usize) -> Addr {
        let before = module as u64 * pages_in(self.shape.memory_bytes) * PAGE;
        self.local(self.shape.tasks).word((before * u64::from(WORDS_PER_LINE)) as u32)
    }

    fn tasks(&self) -> u64 {
        self.shape.tasks as u64
    }
}

/// Every index is below [`ChannelLayout::lines`], so it fits an address.
fn line(index: u64) -> Addr {
    Addr::line(index as u32)
}

fn lanes() -> u64 {
    2 * APART
}

/// Pairs of tasks below this rank, including a task with itself.
fn triangle(rank: u64) -> u64 {
    rank.saturating_mul(rank + 1) / 2
}

fn outboxes(tasks: u64) -> u64 {
    lanes() + APART * triangle(tasks)
}

fn signals(tasks: u64) -> u64 {
    outboxes(tasks) + 2 * APART * tasks
}

fn first_local(tasks: u64) -> u64 {
    (signals(tasks) + 2 * APART * tasks).next_multiple_of(PAGE)
}

fn pages_in(bytes: u32) -> u64 {
    u64::from(bytes).div_ceil(4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(tasks: usize, local_bytes: u32, memory_bytes: u32) -> ProgramNeeds {
        ProgramNeeds { tasks, local_bytes, memory_bytes, signals_or: false }
    }

    fn parts(layout: &ChannelLayout) -> Vec<(u32, u32)> {
        let ranks = 0..layout.shape.tasks;
        let of_line = |at: Addr| (at.line_index(), 1);
        let lanes = ranks.clone().flat_map(|from| (0..=from).map(move |to| (from, to)));
        let mut parts = vec![of_line(layout.gate()), of_line(layout.ended())];
        parts.extend(lanes.map(|(from, to)| of_line(layout.pair(from, to))));
        for rank in ranks {
            let (entry, taken) = layout.outbox(rank);
            let registers = [SignalNumber::One, SignalNumber::Two]
                .map(|register| layout.signal(rank, register));
            parts.extend([entry, taken, registers[0], registers[1]].map(of_line));
            parts.push((layout.local(rank).line_index(), layout.shape.local_bytes.div_ceil(64)));
        }
        let memory =
            |module| (layout.memory(module).line_index(), layout.shape.memory_bytes.div_ceil(64));
        parts.extend((0..layout.modules).map(memory));
        parts
    }

    proptest! {
        #[test]
        fn parts_fit_without_overlap(
            tasks in 1usize..20, local in 0u32..300_000, memory in 0u32..300_000, modules in 1usize..5,
        ) {
            let layout = ChannelLayout::new(shape(tasks, local, memory), modules).unwrap();
            let mut parts = parts(&layout);
            parts.retain(|(_, lines)| *lines > 0);
            parts.sort_unstable();
            prop_assert!(parts.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0));
            prop_assert!(parts.iter().all(|(first, lines)| first + lines <= layout.lines()));
            prop_assert!((1..tasks).all(|rank| layout.lane(0, rank) == LaneHalf::of(layout.pair(rank, 0), false)));
            prop_assert!((1..tasks).all(|rank| layout.lane(rank, 0) == LaneHalf::of(layout.pair(0, rank), true)));
            prop_assert!((0..tasks).all(|rank| layout.local(rank).line_index().is_multiple_of(PAGE as u32)));
        }
    }

    #[test]
    fn layout_beyond_address_space_is_refused() {
        let error = ChannelLayout::new(shape(100_000, 0, 0), 1).unwrap_err();
        insta::assert_snapshot!(error, @"100000 tasks and their memory take 640057602048 bytes, and shared memory ends at 32 GiB");
        assert!(ChannelLayout::new(shape(2, 1 << 18, u32::MAX), 7).is_ok());
        assert!(ChannelLayout::new(shape(2, 1 << 18, u32::MAX), 8).is_err());
    }
}
