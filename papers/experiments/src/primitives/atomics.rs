//! Read-modify-writes by the processor.

use super::{BatchPlan, Primitive, PrimitiveError, PrimitiveThreads, SamplesResult};
use seatmap_machines::host::arena::Arena;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words from one private word to the next: 256 bytes, two lines of any machine.
const STRIDE: usize = 32;

/// The operation on the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadModifyWrite {
    /// One compare-exchange, whether it succeeds or not.
    CompareExchange,
    /// A fetch-add of one.
    FetchAdd,
    /// A swap.
    Swap,
}

/// Each thread changes a 64-bit word repeatedly, all the same one or each its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomics {
    /// The operation.
    pub operation: ReadModifyWrite,
    /// Whether all threads use the same word.
    pub shared: bool,
}

impl ReadModifyWrite {
    #[inline(always)]
    fn apply(self, word: &AtomicU64, found: u64) -> u64 {
        match self {
            ReadModifyWrite::FetchAdd => word.fetch_add(1, Ordering::AcqRel),
            ReadModifyWrite::Swap => word.swap(found.wrapping_add(1), Ordering::AcqRel),
            ReadModifyWrite::CompareExchange => {
                match word.compare_exchange(
                    found,
                    found.wrapping_add(1),
                    Ordering::AcqRel,
                    Ordering::Acquire,
                ) {
                    Ok(found) => found.wrapping_add(1),
                    Err(found) => found,
                }
            }
        }
    }
}

impl Primitive for Atomics {
    fn name(&self) -> String {
        let operation = match self.operation {
            ReadModifyWrite::CompareExchange => "compare-exchange",
            ReadModifyWrite::FetchAdd => "fetch-add",
            ReadModifyWrite::Swap => "swap",
        };
        format!("{operation} {}", if self.shared { "shared" } else { "private" })
    }

    fn cpus(&self) -> std::ops::RangeInclusive<usize> {
        1..=usize::MAX
    }

    fn attempt(&self, room: &mut PrimitiveThreads, cpus: &[u32], plan: BatchPlan) -> SamplesResult {
        let lines = (cpus.len() * STRIDE).div_ceil(8) as u32;
        let arena =
            Arena::new(lines.max(1)).map_err(PrimitiveError::system("cannot map the words"))?;
        let operation = self.operation;
        room.time(self, cpus, plan, |rank| {
            let word = &arena.words()[if self.shared { 0 } else { rank * STRIDE }];
            let mut found = 0;
            move || -> io::Result<()> {
                found = operation.apply(word, found);
                Ok(())
            }
        })
    }
}
