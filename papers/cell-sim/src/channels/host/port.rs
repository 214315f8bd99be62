//! A port whose waits end when another task has failed.

#[cfg(target_arch = "x86_64")]
use super::halves;
#[cfg(target_arch = "x86_64")]
use crate::channels::lines::ValueChange;
use crate::channels::lines::{ChannelLines, PartnerFailure};
use seatmap_data::port::{Addr, Port, Stamp};
use seatmap_machines::host::HostClock;
use seatmap_machines::host::port::{HostPort, wait_for_change};
use seatmap_machines::host::together::Together;
use seatmap_os::partners::{LOOKS, PartnerThread};
use std::sync::atomic::{AtomicU64, Ordering};

/// [`HostPort`] whose waits unwind with [`PartnerFailure`] when `ended` is set.
#[derive(Clone, Copy)]
pub struct BedPort<'a> {
    port: HostPort<'a>,
    words: &'a [AtomicU64],
    ended: &'a AtomicU64,
    clock: &'a HostClock,
    together: &'a Together,
}

impl<'a> BedPort<'a> {
    pub fn new(
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

    pub fn seated(self, seat: &'a PartnerThread<'a>) -> Self {
        BedPort { port: self.port.seated(seat), ..self }
    }

    #[inline(always)]
    fn at(&self, word: Addr) -> &'a AtomicU64 {
        &self.words[word.0 as usize]
    }

    /// Unwinds if another task has failed or a CPU was lost.
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
    fn wait_while(&self, word: Addr, value: u64) -> u64 {
        wait_for_change(self.at(word), value, || self.check())
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
}

impl ChannelLines for BedPort<'_> {
    type Port = Self;

    #[inline(always)]
    fn port(&self) -> &Self {
        self
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn change_half(&self, word: Addr, is_upper: bool, change: ValueChange) -> u32 {
        let cell = self.at(word);
        match change {
            ValueChange::Add(value) => halves::fetch_add(cell, is_upper, value),
            ValueChange::Set(value) => halves::swap(cell, is_upper, value),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn change_half_times(
        &self,
        word: Addr,
        is_upper: bool,
        change: ValueChange,
        times: u64,
    ) -> bool {
        // The address is computed once: a lookup between two atomics lets another CPU take the
        // line, which doubles their time.
        let cell = self.at(word);
        let looks = times / u64::from(LOOKS);
        change_times(cell, is_upper, change, times % u64::from(LOOKS));
        for _ in 0..looks {
            self.check();
            change_times(cell, is_upper, change, LOOKS.into());
        }
        true
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

/// Changes a half `times` times; the kind of change is decided outside the loop.
#[cfg(target_arch = "x86_64")]
fn change_times(cell: &AtomicU64, is_upper: bool, change: ValueChange, times: u64) {
    match change {
        ValueChange::Add(value) => {
            (0..times).for_each(|_| _ = halves::fetch_add(cell, is_upper, value));
        }
        ValueChange::Set(value) => (0..times).for_each(|_| _ = halves::swap(cell, is_upper, value)),
    }
}
