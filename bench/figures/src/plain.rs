//! A simple hand-written loop: two threads, one atomic, the time-stamp counter. The caller chooses
//! its line, because lines have different homes.

use seatmap_machines::host::HostClock;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

/// One word on a separate line, two lines from its neighbours.
#[repr(align(256))]
#[derive(Default)]
pub struct PaddedWord(AtomicU64);

#[derive(Default)]
pub struct HandWrittenLoop {
    ready: PaddedWord,
}

impl HandWrittenLoop {
    /// One side: nanoseconds per round trip, one value per batch, without the first batch.
    pub fn side(
        &self,
        word: &AtomicU64,
        own: u64,
        batches: u32,
        round_trips: u32,
        clock: &HostClock,
    ) -> Vec<f64> {
        if own == 0 {
            word.store(1, Ordering::Release);
        }
        self.ready.0.fetch_add(1, Ordering::AcqRel);
        // The count continues from meeting to meeting: even means that both sides have arrived.
        while !self.ready.0.load(Ordering::Acquire).is_multiple_of(2) {
            spin_loop();
        }
        let mut stamps = Vec::with_capacity(batches as usize + 2);
        stamps.push(clock.stamp().ticks);
        for _ in 0..=batches {
            for _ in 0..round_trips {
                while word.load(Ordering::Acquire) == own {
                    spin_loop();
                }
                word.store(own, Ordering::Release);
            }
            stamps.push(clock.stamp().ticks);
        }
        stamps
            .windows(2)
            .skip(1)
            .map(|two| (two[1] - two[0]) as f64 * clock.ns_per_tick() / f64::from(round_trips))
            .collect()
    }
}
