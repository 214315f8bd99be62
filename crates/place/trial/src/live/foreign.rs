//! The CPU time that other programs took from a program in each period.
//!
//! Neighbours that start or stop change the rate of work more than seats do. So a period is void if
//! other programs or a hypervisor took more of the CPUs than in a quiet one with the same seats, by
//! 5 % and the kernel's counting error. Quiet is the lower quartile, as in `seatmap bench`.

use crate::live::meter::{Counts, growth_with_new, of_processes};
use crate::tune::disturbance::own_s;
use seatmap_data::statistics::quantile;
use seatmap_os::busy::BusyCount;
use seatmap_os::usage::process_cpu_ns;
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeMap;

/// Of the CPUs' time, above a quiet period.
const MOVED_PERCENT: f64 = 5.0;

/// Periods with the same seats after which the usual load is known.
const FEWEST: usize = 4;

pub struct ForeignWatch {
    count: BusyCount,
    own_ns: Counts,
    seatmap_s: f64,
}

/// The loads of past periods, by candidate or no seats.
#[derive(Default)]
pub struct ForeignTime(BTreeMap<Option<usize>, Vec<f64>>);

impl ForeignWatch {
    pub fn begin(threads: &[(Tid, Tid)]) -> Self {
        let own_ns = of_processes(threads, process_cpu_ns);
        ForeignWatch { count: BusyCount::now(), own_ns, seatmap_s: own_s() }
    }

    /// With the possible error, in percent. An exited process of the program counts as another
    /// program.
    pub fn end(self, threads: &[(Tid, Tid)], cpus: &CpuSet) -> Option<[f64; 2]> {
        let time = BusyCount::now().since(&self.count, cpus)?;
        let program_ns = growth_with_new(&of_processes(threads, process_cpu_ns), &self.own_ns);
        let own_s = program_ns as f64 / 1e9 + own_s() - self.seatmap_s;
        let taken_s = (time.busy_s + time.stolen_s - own_s).max(0.0);
        Some([taken_s, time.unsure_s].map(|seconds| 100.0 * seconds / time.all_s))
    }
}

impl ForeignTime {
    pub fn has_moved(&mut self, candidate: Option<usize>, period: Option<[f64; 2]>) -> bool {
        let Some([percent, unsure]) = period else { return false };
        let before = self.0.entry(candidate).or_default();
        let usual = quantile(&*before, 0.25).filter(|_| before.len() >= FEWEST);
        before.push(percent);
        usual.is_some_and(|usual| percent > usual + MOVED_PERCENT + unsure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn disturbed_period_is_void_per_candidate() {
        let mut foreign = ForeignTime::default();
        let periods = [1.0, 2.0, 1.0, 3.0, 40.0, 4.0];
        let found = periods.map(|percent| foreign.has_moved(None, Some([percent, 2.0])));
        assert_eq!(found, [false, false, false, false, true, false]);
        assert!(!foreign.has_moved(Some(0), Some([40.0, 2.0])), "nothing is usual yet");
        assert!(!foreign.has_moved(None, None));
    }

    #[test]
    fn own_cpu_time_is_not_foreign() {
        let cpu = CpuSet::of_thread(0).unwrap().iter().next().unwrap();
        let own = [(std::process::id() as Tid, seatmap_os::task::own_tid())];
        let watch = ForeignWatch::begin(&[]);
        let begun = process_cpu_ns(own[0].0).unwrap();
        let until = Instant::now() + Duration::from_millis(60);
        while Instant::now() < until {}
        assert!(process_cpu_ns(own[0].0).unwrap() - begun >= 10_000_000);
        if let Some([percent, unsure]) = watch.end(&[], &CpuSet::single(cpu)) {
            assert!((0.0..=200.0).contains(&percent) && unsure > 0.0);
        }
    }
}
