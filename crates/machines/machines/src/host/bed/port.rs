//! A port whose waits end when another task has failed.

use crate::host::HostClock;
use crate::host::port::{HostPort, wait_for_change};
use crate::host::together::Together;
use seatmap_data::port::channels::lines::PartnerFailure;
use seatmap_data::port::{Addr, Port, Stamp, ValueChange};
use seatmap_os::partners::{LOOKS, PartnerThread};
use std::sync::atomic::{AtomicU64, Ordering};

/// [`HostPort`], with waits that unwind with [`PartnerFailure`] once a word says that a task has
/// failed. A short wait has no extra cost.
#[derive(Clone, Copy)]
pub(super) struct BedPort<'a> {
    port: HostPort<'a>,
    words: &'a [AtomicU64],
    ended: &'a AtomicU64,
    clock: &'a HostClock,
    together: &'a Together,
}

impl<'a> BedPort<'a> {
    pub(super) fn new(
        words: &'a [AtomicU64],
        clock: &'a HostClock,
        ended: Addr,
        together: &'a Together,
    ) -> Self {
        BedPort {
            port: HostPort::new(words, clock),
            words,
            ended: &words[ended.0 as usize],
            clock,
            together,
        }
    }

    /// The port of the task on this seat.
    pub(super) fn seated(self, seat: &'a PartnerThread<'a>) -> Self {
        BedPort { port: self.port.seated(seat), ..self }
    }

    /// Unwinds where another task has failed, or a seat was lost.
    #[cold]
    fn check(&self) {
        self.port.check();
        self.end_with_others();
    }

    fn end_with_others(&self) {
        if self.ended.load(Ordering::Acquire) != 0 {
            std::panic::resume_unwind(Box::new(PartnerFailure));
        }
    }
}

impl Port for BedPort<'_> {
    #[inline(always)]
    fn load(&self, word: Addr) -> u64 {
        self.port.load(word)
    }

    #[inline(always)]
    fn store(&self, word: Addr, value: u64) {
        self.port.store(word, value);
    }

    #[inline]
    fn copy(&self, from: Addr, to: Addr, words: u32) {
        self.port.copy(from, to, words);
    }

    #[inline(always)]
    fn fetch_add(&self, word: Addr, value: u64) -> u64 {
        self.port.fetch_add(word, value)
    }

    #[inline(always)]
    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64> {
        self.port.compare_exchange(word, current, new)
    }

    #[inline(always)]
    fn change_half(&self, word: Addr, is_upper: bool, change: ValueChange) -> u32 {
        self.port.change_half(word, is_upper, change)
    }

    fn change_half_times(
        &self,
        word: Addr,
        is_upper: bool,
        change: ValueChange,
        times: u64,
    ) -> bool {
        let looks = times / u64::from(LOOKS);
        let rest = times % u64::from(LOOKS);
        let is_done = self.port.change_half_times(word, is_upper, change, rest);
        for _ in 0..looks {
            self.check();
            self.port.change_half_times(word, is_upper, change, LOOKS.into());
        }
        is_done
    }

    #[inline(always)]
    fn wait_while(&self, word: Addr, value: u64) -> u64 {
        wait_for_change(&self.words[word.0 as usize], value, || self.check())
    }

    #[inline(always)]
    fn stamp(&self) -> Stamp {
        self.port.stamp()
    }

    fn compute(&self, cycles: u64) {
        self.port.compute(cycles);
    }

    #[inline(always)]
    fn pause(&self) {
        self.end_with_others();
        self.port.pause();
    }

    fn interruptions(&self) -> u64 {
        self.port.interruptions()
    }

    fn begin_together(&self, tasks: usize) {
        self.together.begin(tasks, self.clock, || self.check());
    }

    fn keep_on(&self, tasks: usize, operation: &mut dyn FnMut()) -> Option<u64> {
        let mut times = 0_u32;
        Some(self.together.keep_on(tasks, self.clock, || {
            self.end_with_others();
            times = times.wrapping_add(1);
            if times.is_multiple_of(LOOKS) {
                self.check();
            }
            operation();
        }))
    }
}
