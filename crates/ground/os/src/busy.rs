//! Busy time of CPUs over an interval.
//!
//! Long intervals use `/proc/stat`, which counts idle time in clock ticks; short ones
//! `/proc/schedstat`, which counts nanoseconds, but a running task only when it leaves its CPU.

use crate::boot::ticks_per_s;
use crate::bytes::{lines, small, unsigned, words};
use crate::cpu_time::CpuTimes;
use crate::{CpuSet, Root};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// This many ticks are accurate to a few percent.
const MANY_TICKS: f64 = 50.0;

/// Idle time is rounded to ticks at both ends.
const UNSURE_TICKS: f64 = 1.0;

/// A task's longest turn: 3 ms, and up to 1 ms more until a tick ends it (kernel/sched/fair.c,
/// `sysctl_sched_base_slice`).
const SLICE: Duration = Duration::from_millis(4);

/// The kernel's counts at one moment.
#[derive(Debug)]
pub struct BusyCount {
    at: Instant,
    times: CpuTimes,
    /// Task time by CPU, in nanoseconds; empty if not counted.
    run_ns: BTreeMap<u32, u64>,
}

/// Time of CPUs over an interval, summed over CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BusyTime {
    /// Total, in seconds.
    pub all_s: f64,
    /// Time of tasks or the kernel.
    pub busy_s: f64,
    /// Time that a hypervisor gave to others.
    pub stolen_s: f64,
    /// Uncertainty of both.
    pub unsure_s: f64,
}

impl BusyCount {
    /// Reads the counts. An unreadable file counts nothing.
    pub fn now() -> Self {
        let [times, run] =
            ["/proc/stat", "/proc/schedstat"].map(|path| std::fs::read(path).unwrap_or_default());
        BusyCount {
            at: Instant::now(),
            times: CpuTimes::of(&times, &Root::new("/")),
            run_ns: run_ns(&run),
        }
    }

    /// The time of these CPUs since an earlier count; `None` if one is not counted.
    pub fn since(&self, earlier: &BusyCount, cpus: &CpuSet) -> Option<BusyTime> {
        let passed_s = self.at.duration_since(earlier.at).as_secs_f64();
        let tick_s = 1.0 / ticks_per_s() as f64;
        let is_long = passed_s >= MANY_TICKS * tick_s;
        let mut sum = BusyTime { all_s: 0.0, busy_s: 0.0, stolen_s: 0.0, unsure_s: 0.0 };
        for cpu in cpus.iter() {
            let idle = self.times.idle_ticks_since(&earlier.times, cpu)?;
            let stolen = self.times.stolen_ticks(cpu)?;
            let stolen = stolen.saturating_sub(earlier.times.stolen_ticks(cpu)?);
            let stolen_s = stolen as f64 * tick_s;
            let ran = self.run_ns.get(&cpu).zip(earlier.run_ns.get(&cpu)).filter(|_| !is_long);
            let (busy_s, unsure_s) = match ran {
                Some((now, then)) => (now.saturating_sub(*then) as f64 / 1e9, SLICE.as_secs_f64()),
                // The other columns are sampled at ticks; idle time is measured.
                None => (passed_s - idle as f64 * tick_s - stolen_s, UNSURE_TICKS * tick_s),
            };
            sum.all_s += passed_s;
            // A long-running task is counted when it leaves.
            sum.busy_s += busy_s.clamp(0.0, passed_s);
            sum.stolen_s += stolen_s;
            sum.unsure_s += unsure_s;
        }
        (sum.all_s > 0.0).then_some(sum)
    }
}

/// Each CPU's seventh number (Documentation/scheduler/sched-stats.rst).
fn run_ns(text: &[u8]) -> BTreeMap<u32, u64> {
    lines(text)
        .filter_map(|line| {
            let mut fields = words(line.strip_prefix(b"cpu")?);
            Some((small(fields.next()?)?, unsigned(fields.nth(6)?)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(at: Instant, stat: &str, schedstat: &str) -> BusyCount {
        BusyCount {
            at,
            times: CpuTimes::parse(stat.as_bytes()),
            run_ns: run_ns(schedstat.as_bytes()),
        }
    }

    #[test]
    fn long_intervals_use_ticks_and_short_ones_nanoseconds() {
        let begun = Instant::now();
        let tick = Duration::from_secs(1) / ticks_per_s() as u32;
        let stat = |idle: u64, stolen: u64| format!("cpu0 9 9 9 {idle} 0 0 0 {stolen} 0 0\n");
        let run = |ns: u64| format!("version 17\ncpu0 0 0 1 1 1 1 {ns} 5 1\ndomain0 3 0\n");
        let before = count(begun, &stat(100, 0), &run(1000));
        let cpus = CpuSet::single(0);
        let after = |ticks: u32, idle: u64, stolen: u64, ns: u64| {
            count(begun + tick * ticks, &stat(100 + idle, stolen), &run(1000 + ns))
        };
        let long = after(100, 60, 10, 1).since(&before, &cpus).unwrap();
        let tick_s = tick.as_secs_f64();
        assert!((long.busy_s - 30.0 * tick_s).abs() < 1e-9, "{long:?}");
        assert!((long.stolen_s - 10.0 * tick_s).abs() < 1e-9, "{long:?}");
        let short = after(10, 10, 0, 7_000_000).since(&before, &cpus).unwrap();
        assert!((short.busy_s - 0.007).abs() < 1e-9 && short.unsure_s == 0.004, "{short:?}");
        let lump = after(10, 10, 0, 1 << 40).since(&before, &cpus).unwrap();
        assert!((lump.busy_s - lump.all_s).abs() < 1e-9, "{lump:?}");
        let none = count(begun + tick * 10, &stat(110, 0), "").since(&before, &cpus).unwrap();
        assert_eq!((none.busy_s, none.unsure_s), (0.0, tick_s));
        assert_eq!(before.since(&before, &CpuSet::single(7)), None, "it is not counted");
    }

    #[test]
    fn busy_cpu_is_counted_as_busy() {
        let cpu = CpuSet::of_thread(0).unwrap().iter().next().unwrap();
        let before = BusyCount::now();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let _ = CpuSet::single(cpu).give(0);
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_millis(600) {}
            });
        });
        let Some(busy) = BusyCount::now().since(&before, &CpuSet::single(cpu)) else {
            return seatmap_needs::skipped!("the kernel counts no time of CPUs");
        };
        // Time of a hypervisor or neighbour is not idle either.
        assert!(busy.busy_s + busy.stolen_s + busy.unsure_s >= 0.6, "{busy:?}");
    }
}
