//! A CPU in virtual time.

use super::cpu::MeteredCpu;

/// One tick is a nanosecond, a reading takes ten, a step of work one.
pub struct SyntheticCpu {
    now: u64,
    /// Start and length of each gap, in order.
    taken: Vec<(u64, u64)>,
    at: usize,
    /// Another task's part of each gap; empty if the kernel does not count it.
    pub preempted: Vec<u64>,
}

pub const READING: u64 = 10;

impl SyntheticCpu {
    pub fn new(taken: &[(u64, u64)]) -> Self {
        SyntheticCpu { now: 0, taken: taken.to_vec(), at: 0, preempted: Vec::new() }
    }

    /// A gap of this length at every multiple of a period.
    pub fn ticking(period: u64, length: u64, ticks: u64) -> Self {
        SyntheticCpu::new(&(1..=ticks).map(|tick| (tick * period, length)).collect::<Vec<_>>())
    }

    fn pass(&mut self, mut own: u64) {
        while let Some((begin, length)) =
            self.taken.get(self.at).filter(|(begin, _)| *begin < self.now + own)
        {
            own -= begin.saturating_sub(self.now);
            self.now = self.now.max(*begin) + length;
            self.at += 1;
        }
        self.now += own;
    }
}

impl MeteredCpu for SyntheticCpu {
    fn ticks(&mut self) -> u64 {
        self.pass(READING);
        self.now
    }

    fn work(&mut self, steps: u64) {
        self.pass(steps);
    }

    fn ns_per_tick(&self) -> f64 {
        1.0
    }

    fn step_ns(&self) -> f64 {
        1.0
    }

    fn waited_ns(&mut self) -> Option<u64> {
        (!self.preempted.is_empty()).then(|| self.preempted[..self.at].iter().sum())
    }
}
