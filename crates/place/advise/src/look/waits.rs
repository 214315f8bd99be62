//! The time that threads ran, and waited for a CPU, and the CPUs that they might use, also of those
//! that end meanwhile.
//!
//! The kernel forgets a thread as it ends. A command that ends within the look would have waited
//! for nothing then, however crowded its CPUs were, and be bound by nothing.

use crate::evidence::BUSY_PERCENT;
use seatmap_os::sched::ThreadTimes;
use seatmap_os::{CpuSet, Tid, task};
use std::collections::BTreeMap;

/// The most threads that are followed: each costs a file at every reading.
const MOST_THREADS: usize = 64;

/// Threads at their first and latest readings.
#[derive(Debug, Default)]
pub struct Waits {
    threads: BTreeMap<Tid, (ThreadTimes, ThreadTimes)>,
    masks: BTreeMap<Tid, CpuSet>,
    /// Whether there were more threads than are followed.
    is_partial: bool,
}

/// The time of busy threads, in percent of one CPU's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuDemand {
    /// The time on a CPU.
    pub run_percent: f64,
    /// The time in which they were ready, and others had the CPU.
    pub wait_percent: f64,
    /// How many they are.
    pub threads: usize,
}

impl Waits {
    /// Reads the times and masks of these threads.
    pub fn read(&mut self, tids: impl ExactSizeIterator<Item = Tid>) {
        self.is_partial |= tids.len() > MOST_THREADS;
        for tid in tids.take(MOST_THREADS) {
            if let Some(now) = task::times(tid) {
                self.threads.entry(tid).or_insert((now, now)).1 = now;
            }
            // A command such as taskset changes its mask as it becomes the program: the last holds.
            if let Ok(mask) = CpuSet::of_thread(tid) {
                self.masks.insert(tid, mask);
            }
        }
    }

    /// The CPUs that a thread might use when it was last read; `None` if it never was.
    pub fn mask(&self, tid: Tid) -> Option<&CpuSet> {
        self.masks.get(&tid)
    }

    /// The CPUs that any thread might use when it was last read.
    pub fn all_masks(&self) -> CpuSet {
        self.masks.values().fold(CpuSet::default(), |all, mask| all.with(mask))
    }

    /// The CPU time of those threads that needed 5 % of these seconds or more; `None` where the
    /// kernel does not count it, or where there were more threads than are followed: the busy ones
    /// may be among the others. Threads that wake for a moment wait for a moment, which limits
    /// nothing.
    pub fn demand(&self, seconds: f64) -> Option<CpuDemand> {
        if self.is_partial {
            return None;
        }
        let percent = |ns: u64| ns as f64 / 1e7 / seconds.max(1e-3);
        let mut sum = CpuDemand::default();
        let mut is_counted = false;
        for (first, last) in self.threads.values() {
            let Some((before, after)) = first.wait_ns.zip(last.wait_ns) else { continue };
            is_counted = true;
            let run = percent(last.run_ns.saturating_sub(first.run_ns));
            let wait = percent(after.saturating_sub(before));
            sum.add(run, wait);
        }
        is_counted.then_some(sum)
    }
}

impl CpuDemand {
    /// Adds the shares of a thread, if it is one that needs a CPU.
    pub fn add(&mut self, run_percent: f64, wait_percent: f64) {
        if run_percent + wait_percent >= BUSY_PERCENT {
            self.run_percent += run_percent;
            self.wait_percent += wait_percent;
            self.threads += 1;
        }
    }

    /// The share of the time in which threads could run that they waited for a CPU, in percent of
    /// that time.
    pub fn waits_percent(&self) -> f64 {
        let all = self.run_percent + self.wait_percent;
        if all > 0.0 { 100.0 * self.wait_percent / all } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_have_ended_are_counted_up_to_their_last_reading() {
        let times = |run_ns, wait_ns| ThreadTimes { run_ns, wait_ns: Some(wait_ns) };
        let mut waits = Waits::default();
        waits.threads.insert(7, (times(0, 0), times(500_000_000, 1_500_000_000)));
        waits.threads.insert(8, (times(10, 10), times(1_000_010, 10)));
        let demand = waits.demand(2.0).unwrap();
        assert_eq!(demand, CpuDemand { run_percent: 25.0, wait_percent: 75.0, threads: 1 });
        assert!((demand.waits_percent() - 75.0).abs() < 1e-9);
        assert_eq!(Waits::default().demand(2.0), None);
        waits.read((0..65).map(|_| 0));
        assert_eq!(waits.demand(2.0), None, "the busy ones may be among those that are not read");
    }
}
