//! `Port` as plain loads and stores.

use crate::host::HostClock;
use seatmap_data::port::{Addr, Port, Stamp};
use seatmap_os::partners::{LOOKS, PartnerThread};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

/// A pinned thread's view of the machine: plain atomic loads and stores on an arena, a clock, and
/// the thread's own CPU time. With partners, its waits end if one has exited or lost its CPU.
#[derive(Clone, Copy)]
pub struct HostPort<'a> {
    words: &'a [AtomicU64],
    clock: &'a HostClock,
    seat: Option<&'a PartnerThread<'a>>,
}

impl<'a> HostPort<'a> {
    /// A port onto these words, for a thread without partners.
    pub fn new(words: &'a [AtomicU64], clock: &'a HostClock) -> Self {
        HostPort { words, clock, seat: None }
    }

    /// The port of a thread with partners: its waits unwind if one of them has exited.
    pub fn seated(self, seat: &'a PartnerThread<'a>) -> Self {
        HostPort { seat: Some(seat), ..self }
    }

    /// Unwinds if a partner has exited or the thread has lost its CPU.
    #[cold]
    pub fn check(&self) {
        if let Some(seat) = self.seat {
            seat.check();
        }
    }

    #[inline(always)]
    fn at(&self, word: Addr) -> &'a AtomicU64 {
        &self.words[word.0 as usize]
    }
}

/// Spins until a word has another value, and returns it. Every [`LOOKS`] looks it calls `check`,
/// which may unwind.
#[inline(always)]
pub fn wait_for_change(cell: &AtomicU64, value: u64, check: impl Fn()) -> u64 {
    loop {
        for _ in 0..LOOKS {
            let found = cell.load(Ordering::Acquire);
            if found != value {
                return found;
            }
            spin_loop();
        }
        check();
    }
}

impl Port for HostPort<'_> {
    #[inline(always)]
    fn load(&self, word: Addr) -> u64 {
        self.at(word).load(Ordering::Acquire)
    }

    #[inline(always)]
    fn store(&self, word: Addr, value: u64) {
        self.at(word).store(value, Ordering::Release);
    }

    #[inline]
    fn copy(&self, from: Addr, to: Addr, words: u32) {
        // Both ends are checked once: a check of each word doubled the time of a copy.
        for (from, to) in self.words[from.0 as usize..][..words as usize]
            .iter()
            .zip(&self.words[to.0 as usize..][..words as usize])
        {
            to.store(from.load(Ordering::Acquire), Ordering::Release);
        }
    }

    #[inline(always)]
    fn fetch_add(&self, word: Addr, value: u64) -> u64 {
        self.at(word).fetch_add(value, Ordering::AcqRel)
    }

    #[inline(always)]
    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64> {
        self.at(word).compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire)
    }

    #[inline(always)]
    fn wait_while(&self, word: Addr, value: u64) -> u64 {
        // The address is computed once: a reload of the base after every acquire cost 18-27 % in a
        // prototype.
        let cell = self.at(word);
        wait_for_change(cell, value, || self.check())
    }

    #[inline(always)]
    fn stamp(&self) -> Stamp {
        self.clock.stamp()
    }

    fn compute(&self, cycles: u64) {
        let start = self.clock.stamp().ticks;
        let ticks = self.clock.ticks_in(cycles);
        while self.clock.stamp().ticks.wrapping_sub(start) < ticks {
            spin_loop();
        }
    }

    #[inline(always)]
    fn pause(&self) {
        spin_loop();
    }

    fn interruptions(&self) -> u64 {
        involuntary_switches()
    }
}

/// Involuntary context switches of the calling thread until now (getrusage(2), `RUSAGE_THREAD`).
fn involuntary_switches() -> u64 {
    // SAFETY: `rusage` is plain integers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `rusage` to a place that holds one.
    let status = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    if status == 0 { usage.ru_nivcsw as u64 } else { 0 }
}
