//! The load of other programs on each CPU before a measurement.

use seatmap_os::cpu_time::CpuTimes;
use seatmap_os::interrupts::Interrupts;
use seatmap_os::{CpuSet, Root};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The largest load of a quiet CPU, in percent of the time.
pub const QUIET_PERCENT: f64 = 5.0;

/// The most device interrupts per second of a quiet CPU.
pub const QUIET_INTERRUPTS: f64 = 200.0;

/// The load of other programs on a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Activity {
    /// The share of the time in which something ran, in percent.
    pub busy_percent: f64,
    /// Device interrupts per second.
    pub interrupts_per_s: f64,
}

impl Activity {
    /// Whether the load is too small to affect a measurement.
    pub fn is_quiet(self) -> bool {
        self.busy_percent <= QUIET_PERCENT && self.interrupts_per_s <= QUIET_INTERRUPTS
    }
}

/// Observes these CPUs. One that the kernel does not count seems quiet.
pub fn look(cpus: &CpuSet, time: Duration) -> BTreeMap<u32, Activity> {
    let before = counts();
    let began = Instant::now();
    std::thread::sleep(time);
    let now = counts();
    // A busy computer wakes a sleeper late.
    let seconds = began.elapsed().as_secs_f64();
    let activities = cpus.iter().map(|cpu| {
        let shares = now.0.since(&before.0, cpu);
        let came = now.1.since(&before.1, cpu);
        // The kernel's own interrupts have letters instead of numbers.
        let of_devices =
            came.iter().filter(|came| came.irq.bytes().all(|byte| byte.is_ascii_digit()));
        let activity = Activity {
            busy_percent: shares.map_or(0.0, |shares| shares.busy_percent),
            interrupts_per_s: of_devices.map(|came| came.count as f64).sum::<f64>() / seconds,
        };
        (cpu, activity)
    });
    activities.collect()
}

fn counts() -> (CpuTimes, Interrupts) {
    let root = Root::new("/");
    (CpuTimes::now(&root), Interrupts::now(&root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_detects_busy_cpus() {
        let cpus = CpuSet::of_thread(0).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let seen = std::thread::scope(|scope| {
            for cpu in cpus.iter() {
                let stop = &stop;
                scope.spawn(move || {
                    let _ = CpuSet::single(cpu).give(0);
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {}
                });
            }
            let seen = look(&cpus, Duration::from_millis(200));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            seen
        });
        assert_eq!(seen.len(), cpus.len());
        assert!(seen.values().all(|activity| !activity.is_quiet()), "{seen:?}");
    }
}
