//! Threads that start at one value of the clock, and keep working until all have finished.

use crate::host::HostClock;
use seatmap_os::partners::LOOKS;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

/// Time from the last thread's arrival to the common start. News of the arrival reaches other CPUs
/// in less than 1 us, even between sockets of all machines known to us; this is many times that,
/// and still short compared with a measurement.
const LEAD_NS: f64 = 10_000.0;

/// A meeting of threads, each on its own CPU. They spin: on a virtual machine a sleeping thread
/// wakes up about 50 us late, when its neighbour's run of a few thousand atomics is already over.
#[derive(Default)]
pub struct Together {
    arrived: PaddedWord,
    start_ticks: PaddedWord,
    ended: PaddedWord,
}

/// A word on separate lines: x86-64 fetches neighbouring lines in pairs, and POWER has lines of 128
/// bytes.
#[repr(align(128))]
#[derive(Default)]
struct PaddedWord(AtomicU64);

impl Together {
    /// Returns in all threads at the same value of the clock, once this many threads have called
    /// it. Calls `check` every [`LOOKS`] loads, which panics if a thread will never arrive.
    pub fn begin(&self, threads: usize, clock: &HostClock, check: impl Fn()) {
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
    }

    /// Repeats an operation until this many threads have called this method, and returns the
    /// clock's value then. The operation must panic if a thread will never arrive.
    pub fn keep_on(&self, threads: usize, clock: &HostClock, mut operation: impl FnMut()) -> u64 {
        let all = self.ended.come(threads).all;
        while self.ended.0.load(Ordering::Acquire) < all {
            operation();
        }
        clock.stamp().ticks
    }
}

struct Came {
    /// Whether it is the last thread of its round.
    is_last: bool,
    /// The count when all threads of the round have arrived.
    all: u64,
}

impl PaddedWord {
    /// Counts a thread. The count never restarts, as in [`seatmap_data::port::Barrier`], so the
    /// meeting is reusable.
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
    fn nobody_begins_before_the_last_has_come_nor_stops_before_the_last_has_ended() {
        let cpus = affinity::current().unwrap();
        let clock = HostClock::calibrated();
        let together = Together::default();
        let mut crew = Crew::default();
        for _ in 0..5 {
            let times = crew.run_together(&cpus, &|seat: &PartnerThread| {
                let rank = seat.rank();
                // Each thread arrives later than the previous one, and works longer.
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
    fn one_thread_waits_for_nobody() {
        let clock = HostClock::calibrated();
        let together = Together::default();
        together.begin(1, &clock, || panic!("it waits"));
        let began = clock.stamp().ticks;
        assert!(together.keep_on(1, &clock, || panic!("it keeps on")) >= began);
    }
}
