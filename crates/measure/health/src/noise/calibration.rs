//! Each meter's own period, step and threshold.

use super::cpu::MeteredCpu;
use seatmap_data::statistics::least;

/// Readings in a block: so few that many blocks pass undisturbed on a shared CPU.
const BLOCK: u32 = 256;
/// The quickest of this many blocks counts.
const BLOCKS: u32 = 400;

/// A shorter gap, in periods of the loop, may be its branch or cache miss.
const THRESHOLD_PERIODS: f64 = 9.0;
/// A coarse clock produces gaps of one step, and of two by rounding.
const THRESHOLD_STEPS: f64 = 2.0;

const TRIAL_STEPS: u64 = 4096;
const TRIALS: u32 = 200;
/// Long for a reading, short for a tick, so most are undisturbed.
const QUANTUM_NS: f64 = 32_000.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    pub loop_ticks: f64,
    /// A larger difference between two readings is a gap, in ticks.
    pub threshold_ticks: u64,
    pub quantum_steps: u64,
}

impl Calibration {
    pub fn of(cpu: &mut impl MeteredCpu) -> Self {
        let loop_ticks = quickest(BLOCKS, || period(cpu));
        let steps_ticks = THRESHOLD_STEPS * cpu.step_ns() / cpu.ns_per_tick();
        // A coarse clock may show zero.
        let trial_ticks = quickest(TRIALS, || trial(cpu)).max(1.0);
        let quanta = QUANTUM_NS / cpu.ns_per_tick() / trial_ticks;
        Calibration {
            loop_ticks,
            threshold_ticks: (THRESHOLD_PERIODS * loop_ticks).max(steps_ticks).ceil() as u64,
            quantum_steps: ((quanta * TRIAL_STEPS as f64) as u64).max(1),
        }
    }
}

fn quickest(times: u32, mut take: impl FnMut() -> f64) -> f64 {
    least((0..times).map(|_| take()))
}

fn period(cpu: &mut impl MeteredCpu) -> f64 {
    let first = cpu.ticks();
    let mut last = first;
    for _ in 0..BLOCK {
        last = cpu.ticks();
    }
    last.saturating_sub(first) as f64 / f64::from(BLOCK)
}

fn trial(cpu: &mut impl MeteredCpu) -> f64 {
    let first = cpu.ticks();
    cpu.work(TRIAL_STEPS);
    cpu.ticks().saturating_sub(first) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::synthetic::{READING, SyntheticCpu};

    #[test]
    fn calibration_excludes_disturbances() {
        let quiet = Calibration::of(&mut SyntheticCpu::new(&[]));
        assert_eq!(quiet.loop_ticks, READING as f64);
        assert_eq!(quiet.threshold_ticks, 9 * READING);
        assert_eq!(quiet.quantum_steps, (32_000 * TRIAL_STEPS) / (TRIAL_STEPS + READING));
        assert_eq!(Calibration::of(&mut SyntheticCpu::ticking(20_000, 15_000, 1000)), quiet);
    }
}
