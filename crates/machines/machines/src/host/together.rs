//! Threads that begin at one value of the clock, and work until all have ended.

use crate::host::HostClock;
use seatmap_os::partners::LOOKS;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

/// From the last thread's arrival to the common start. Another CPU sees the arrival within 1 us,
/// even on another socket of any known machine; this is many times longer, yet short for a
/// measurement.
const LEAD_NS: f64 = 10_000.0;

/// A meeting of threads on different CPUs. They spin, because on a virtual machine a sleeping
/// thread wakes about 50 us late, after a run of a few thousand atomics.
#[derive(Default)]
pub struct Together {
    arrived: PaddedWord,
    start_ticks: PaddedWord,
    ended: PaddedWord,
}

/// A word on its own lines: x86-64 fetches neighbouring lines in pairs, and POWER has lines of 128
/// bytes.
#[repr(align(128))]
#[derive(Default)]
struct PaddedWord(AtomicU64);

impl Together {
    /// Returns once this many threads have called it, in all at the same clock value, which it
    /// returns. It calls `check` every [`LOOKS`] looks, which panics if a thread will never come.
    pub fn begin(&self, threads: usize, clock: &HostClock, check: impl Fn()) -> u64 {
        let before = self.start_ticks.0.load(Ordering::Acquire);
        if self.arrived.come(threads).is_last {
            let lead = (LEAD_NS / clock.ns_per_tick()) as u64;
            self.start_ticks.0.store(clock.stamp().ticks + lead, Ordering::Release);
        }
        let mut looks = 0_u32;
        let start = loop {
            let start = self.start_ticks.0.load(Ordering::Acquire);
            if start != before {
                break start;
            }
            spin_loop();
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) {
                check();
            }
        };
        while clock.stamp().ticks < start {
            spin_loop();
        }
        start
    }

    /// Repeats an operation until this many threads have called this method, and returns the clock
    /// then. The operation panics if a thread will never come.
    pub fn keep_on(&self, threads: usize, clock: &HostClock, mut operation: impl FnMut()) -> u64 {
        let all = self.ended.come(threads).all;
        while self.ended.0.load(Ordering::Acquire) < all {
            operation();
        }
        clock.stamp().ticks
    }
}

struct Came {
    is_last: bool,
    all: u64,
}

impl PaddedWord {
    /// Counts a thread. The count never restarts, as in [`seatmap_data::port::Barrier`], so the
    /// meeting can be reused.
    fn come(&self, threads: usize) -> Came {
        let threads = threads.max(1) as u64;
        let ticket = self.0.fetch_add(1, Ordering::AcqRel);
        let all = (ticket / threads + 1) * threads;
        Came { is_last: ticket + 1 == all, all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::crew::Crew;
    use seatmap_os::affinity;
    use seatmap_os::partners::PartnerThread;

    #[test]
    fn threads_begin_and_end_together() {
        let cpus = affinity::current().unwrap();
        let clock = HostClock::calibrated();
        let together = Together::default();
        let mut crew = Crew::default();
        for _ in 0..5 {
            let times = crew.run_together(&cpus, &|seat: &PartnerThread| {
                let rank = seat.rank();
                // Each thread arrives later than the one before it, and works for longer.
                let spin_until = |ticks| while clock.stamp().ticks < ticks {};
                spin_until(clock.stamp().ticks + 100_000 * rank as u64);
                let came = clock.stamp().ticks;
                together.begin(cpus.len(), &clock, || seat.check());
                let began = clock.stamp().ticks;
                spin_until(began + 100_000 * rank as u64);
                let ended = clock.stamp().ticks;
                (came, [began, ended, together.keep_on(cpus.len(), &clock, || ())])
            });
            let times = times.unwrap();
            let last_came = times.iter().map(|(came, _)| *came).max().unwrap();
            let last_ended = times.iter().map(|(_, [_, ended, _])| *ended).max().unwrap();
            assert!(
                times
                    .iter()
                    .all(|(_, [began, _, until])| *began > last_came && *until >= last_ended),
                "{times:?}"
            );
        }
    }

    #[test]
    fn single_thread_does_not_wait() {
        let clock = HostClock::calibrated();
        let together = Together::default();
        together.begin(1, &clock, || panic!("it waits"));
        let began = clock.stamp().ticks;
        assert!(together.keep_on(1, &clock, || panic!("it keeps on")) >= began);
    }
}
