//! A CPU in virtual time whose gaps are known.

use super::cpu::MeteredCpu;

/// One tick is one nanosecond, a reading takes ten, a step of work one; at known times time is
/// taken away.
pub(super) struct SyntheticCpu {
    now: u64,
    /// Begin and length of the gaps, in order.
    taken: Vec<(u64, u64)>,
    at: usize,
    /// The part of each gap that another task had; where this is empty, the kernel does not count
    /// it.
    pub(super) preempted: Vec<u64>,
}

/// The duration of a reading of the clock.
pub(super) const READING: u64 = 10;

impl SyntheticCpu {
    pub(super) fn new(taken: &[(u64, u64)]) -> Self {
        SyntheticCpu { now: 0, taken: taken.to_vec(), at: 0, preempted: Vec::new() }
    }

    /// The same length taken at every multiple of a period, from the first on.
    pub(super) fn ticking(period: u64, length: u64, ticks: u64) -> Self {
        SyntheticCpu::new(&(1..=ticks).map(|tick| (tick * period, length)).collect::<Vec<_>>())
    }

    /// Lets this much time of the program's own pass.
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
