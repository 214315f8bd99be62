//! The CPU of the pinned thread.

use super::cpu::MeteredCpu;
use seatmap_machines::host::HostClock;
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;

/// Knuth's MMIX generator (The Art of Computer Programming, vol. 2, 3.3.4): each step needs the
/// previous result, so neither compiler nor processor can overlap them.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// The host's clock, and integer work in registers, which uses no memory.
pub struct HostCpu {
    clock: HostClock,
    /// Time on a CPU, time ready for one, time slices (Documentation/scheduler/sched-stats.rst).
    schedstat: Option<File>,
}

impl HostCpu {
    pub fn new(clock: HostClock) -> Self {
        HostCpu { clock, schedstat: File::open("/proc/thread-self/schedstat").ok() }
    }
}

impl MeteredCpu for HostCpu {
    #[inline(always)]
    fn ticks(&mut self) -> u64 {
        self.clock.stamp().ticks
    }

    #[inline(always)]
    fn work(&mut self, steps: u64) {
        let mut value = black_box(1u64);
        for _ in 0..steps {
            // Without the second black box the compiler could skip ahead in a linear sequence.
            value = black_box(value.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT));
        }
        black_box(value);
    }

    fn ns_per_tick(&self) -> f64 {
        self.clock.ns_per_tick()
    }

    fn step_ns(&self) -> f64 {
        self.clock.step_ns()
    }

    fn waited_ns(&mut self) -> Option<u64> {
        let mut text = [0; 64];
        let length = self.schedstat.as_ref()?.read_at(&mut text, 0).ok()?;
        std::str::from_utf8(text.get(..length)?).ok()?.split(' ').nth(1)?.parse().ok()
    }
}
