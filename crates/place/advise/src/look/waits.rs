//! How long threads ran and waited for a CPU, and their CPUs.
//!
//! The kernel forgets exited threads: without these readings, a command that exits early would seem
//! to wait for nothing and have no mask.

use crate::evidence::BUSY_PERCENT;
use seatmap_os::sched::ThreadTimes;
use seatmap_os::task::{self, ThreadIdentity};
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeMap;

/// The most observed threads, because each reading needs a file.
const MOST_THREADS: usize = 64;

/// The first and latest readings of each thread.
#[derive(Debug, Default)]
pub struct Waits {
    threads: BTreeMap<ThreadIdentity, (ThreadTimes, ThreadTimes)>,
    masks: BTreeMap<Tid, CpuSet>,
    is_partial: bool,
}

/// The time of busy threads, in percent of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuDemand {
    /// The running time.
    pub run_percent: f64,
    /// The time ready to run, while other threads had the CPU.
    pub wait_percent: f64,
    /// The number of threads.
    pub threads: usize,
}

impl Waits {
    /// Reads the times and masks of these threads.
    pub fn read(&mut self, tids: impl ExactSizeIterator<Item = Tid>) {
        self.is_partial |= tids.len() > MOST_THREADS;
        for tid in tids.take(MOST_THREADS) {
            if let Some((thread, now)) = ThreadIdentity::of(tid).zip(task::times(tid)) {
                self.threads.entry(thread).or_insert((now, now)).1 = now;
            }
            // A command such as taskset changes its mask before it executes the program.
            if let Ok(mask) = CpuSet::of_thread(tid) {
                self.masks.insert(tid, mask);
            }
        }
    }

    /// The last known CPUs of a thread.
    pub fn mask(&self, tid: Tid) -> Option<&CpuSet> {
        self.masks.get(&tid)
    }

    /// The last known CPUs of all threads.
    pub fn all_masks(&self) -> CpuSet {
        self.masks.values().fold(CpuSet::default(), |all, mask| all.with(mask))
    }

    /// The demand of threads that needed at least 5 % of this time; `None` if not counted, or with
    /// too many threads.
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
    /// Adds a thread, if it needs a CPU.
    pub fn add(&mut self, run_percent: f64, wait_percent: f64) {
        if run_percent + wait_percent >= BUSY_PERCENT {
            self.run_percent += run_percent;
            self.wait_percent += wait_percent;
            self.threads += 1;
        }
    }

    /// Waiting, in percent of the time in which threads could run.
    pub fn waits_percent(&self) -> f64 {
        let all = self.run_percent + self.wait_percent;
        if all > 0.0 { 100.0 * self.wait_percent / all } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_threads_count_until_last_reading() {
        let times = |run_ns, wait_ns| ThreadTimes { run_ns, wait_ns: Some(wait_ns) };
        let mut waits = Waits::default();
        // The second has the number of the first, which has ended.
        let [first, second] = [1, 2].map(|started_ticks| ThreadIdentity { tid: 7, started_ticks });
        waits.threads.insert(first, (times(0, 0), times(500_000_000, 1_500_000_000)));
        waits.threads.insert(second, (times(10, 10), times(1_000_010, 10)));
        let demand = waits.demand(2.0).unwrap();
        assert_eq!(demand, CpuDemand { run_percent: 25.0, wait_percent: 75.0, threads: 1 });
        assert!((demand.waits_percent() - 75.0).abs() < 1e-9);
        assert_eq!(Waits::default().demand(2.0), None);
        let own = ThreadIdentity::of(task::own_tid()).unwrap();
        let ended = ThreadIdentity { started_ticks: own.started_ticks - 1, ..own };
        waits.threads = BTreeMap::from([(ended, (times(0, 0), times(1, 1)))]);
        waits.read([own.tid].into_iter());
        assert_eq!(waits.threads.len(), 2, "a thread with the number of an ended one is another");
        waits.read((0..65).map(|_| 0));
        assert_eq!(waits.demand(2.0), None, "the busy ones may be among those that are not read");
    }
}
