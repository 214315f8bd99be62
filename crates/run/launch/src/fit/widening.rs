//! Counts a program's threads, and gives them the launcher's mask when they stand still.
//!
//! A process with children keeps the narrow mask, because the next child inherits it: a shell
//! script may start the main program after minutes.

use super::{CpuFit, CpuFitReport};
use seatmap_os::task::{self, ThreadIdentity};
use seatmap_os::{CpuSet, Root, Tid, affinity};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// A process without new threads for this long has its pools.
const STANDS_STILL: Duration = Duration::from_secs(1);

/// Threads created meanwhile inherit narrow masks.
const ROUNDS: usize = 8;

/// A program that sees some CPUs, while it runs.
pub struct FitWatch {
    pub report: CpuFitReport,
    mask: CpuSet,
    home: CpuSet,
    processes: HashMap<ThreadIdentity, ThreadGrowth>,
}

struct ThreadGrowth {
    most: usize,
    since: Instant,
    is_widened: bool,
}

impl ThreadGrowth {
    fn new(threads: usize) -> Self {
        ThreadGrowth { most: threads, since: Instant::now(), is_widened: false }
    }

    /// Whether the process is to be widened now, with this many threads.
    fn stands_still(&mut self, threads: usize) -> bool {
        if threads > self.most {
            self.most = threads;
            self.since = Instant::now();
        }
        !self.is_widened && self.since.elapsed() >= STANDS_STILL
    }
}

impl FitWatch {
    pub fn new(fit: CpuFit, home: CpuSet) -> Self {
        // A program may end before the first look.
        let report = CpuFitReport { most_threads: 1, ..fit.report };
        FitWatch { report, mask: fit.seen, home, processes: HashMap::new() }
    }

    /// The mask with which the program begins.
    pub fn mask(&self) -> Option<&CpuSet> {
        Some(&self.mask).filter(|_| self.report.masked)
    }

    /// Looks at each process's number of threads.
    pub fn look(&mut self, threads: &BTreeMap<Tid, usize>) {
        self.report.most_threads = self.report.most_threads.max(threads.values().sum());
        if !self.report.masked {
            return;
        }
        self.processes.retain(|process, _| threads.contains_key(&process.tid));
        for (pid, threads) in threads {
            let Some(process) = ThreadIdentity::of(*pid) else { continue };
            let growth =
                self.processes.entry(process).or_insert_with(|| ThreadGrowth::new(*threads));
            if growth.stands_still(*threads) && !has_children(*pid) {
                growth.is_widened = true;
                self.report.widened += widened(*pid, &self.mask, &self.home);
            }
        }
    }

    /// Gives the launcher's mask to all threads with the narrow one.
    pub fn widen_all(&mut self) {
        if self.report.masked {
            let living = self.processes.keys().filter(|process| process.exists());
            let all = living.map(|process| widened(process.tid, &self.mask, &self.home));
            self.report.widened += all.sum::<usize>();
        }
    }
}

fn has_children(pid: Tid) -> bool {
    let threads = task::threads(pid).unwrap_or_default();
    task::children(&Root::new("/"), pid, &threads).is_ok_and(|children| !children.is_empty())
}

/// A mask that the program has set itself stays. Returns the number of widened threads.
fn widened(pid: Tid, mask: &CpuSet, home: &CpuSet) -> usize {
    let mut all = 0;
    for _ in 0..ROUNDS {
        let threads = task::threads(pid).unwrap_or_default();
        let narrow = threads
            .into_iter()
            .filter(|tid| affinity::has_mask(*tid, mask).unwrap_or(false))
            .filter(|tid| home.give(*tid).is_ok())
            .count();
        if narrow == 0 {
            break;
        }
        all += narrow;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_process_is_not_widened() {
        let mut growth = ThreadGrowth::new(1);
        growth.since -= STANDS_STILL;
        assert!(!growth.stands_still(2), "it has just got a thread");
        growth.since -= STANDS_STILL;
        assert!(growth.stands_still(1), "its threads have become fewer");
        growth.is_widened = true;
        assert!(!growth.stands_still(2));
    }

    #[test]
    fn narrow_threads_get_the_launchers_mask_and_others_stay() {
        let home: CpuSet = affinity::current().unwrap().into_iter().collect();
        let Some(other) = home.last().filter(|cpu| home.first() != Some(*cpu)) else {
            return seatmap_needs::skipped!("this needs two CPUs");
        };
        let mask = CpuSet::single(home.first().unwrap());
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Tid::try_from(sleeper.id()).unwrap();
        mask.give(pid).unwrap();
        let narrow = widened(pid, &mask, &home);
        let now = CpuSet::of_thread(pid).unwrap();
        CpuSet::single(other).give(pid).unwrap();
        let own = widened(pid, &mask, &home);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!((narrow, now, own), (1, home, 0));
    }
}
