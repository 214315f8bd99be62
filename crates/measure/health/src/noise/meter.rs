//! The two meters of a CPU.

use super::calibration::Calibration;
use super::cpu::MeteredCpu;
use super::detour::Detour;
use super::quanta::Quanta;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Some ticks of any kernel (1 to 10 ms each) and many quanta.
const TURN_US: RangeInclusive<u64> = 5_000..=15_000;

/// Equal on all CPUs, so they run the same meter at once.
const SEED: u64 = 1;

pub struct Metered {
    pub own: Calibration,
    pub ns_per_tick: f64,
    pub detour: Detour,
    pub quanta: Quanta,
}

impl Metered {
    pub fn new(cpu: &mut impl MeteredCpu) -> Self {
        Metered {
            own: Calibration::of(cpu),
            ns_per_tick: cpu.ns_per_tick(),
            detour: Detour::default(),
            quanta: Quanta::new(),
        }
    }

    /// Until each meter has had a turn, or `stop`, checked between turns.
    pub fn run(&mut self, cpu: &mut impl MeteredCpu, duration: Duration, stop: &impl Fn() -> bool) {
        let mut lengths = fastrand::Rng::with_seed(SEED);
        let begin = cpu.ticks();
        self.detour.origin = begin;
        let end = begin.saturating_add(self.ticks(duration.as_secs_f64() * 1e6));
        let mut now = begin;
        let mut turns = 0u64;
        while (now < end || turns < 2) && !stop() {
            let until = now + self.ticks(lengths.u64(TURN_US) as f64);
            // If one gap exceeds the whole time, the other meter still gets a whole turn.
            let until = if now < end { until.min(end) } else { until };
            now = match turns % 2 {
                0 => {
                    self.detour.settle(cpu);
                    let from = cpu.ticks();
                    self.detour.watch(cpu, &self.own, from, until.max(from))
                }
                _ => self.quanta.work(cpu, &self.own, now, until),
            };
            turns += 1;
        }
    }

    fn ticks(&self, us: f64) -> u64 {
        (us * 1e3 / self.ns_per_tick) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::synthetic::SyntheticCpu;

    const SECOND: Duration = Duration::from_secs(1);

    fn run(mut cpu: SyntheticCpu, stop: impl Fn() -> bool) -> Metered {
        let mut metered = Metered::new(&mut SyntheticCpu::new(&[]));
        metered.own.quantum_steps = 31_990;
        metered.run(&mut cpu, SECOND, &stop);
        metered
    }

    #[test]
    fn both_meters_see_the_same_ticks() {
        // 250 times 20 us: 0.5 %.
        let metered = run(SyntheticCpu::ticking(4_000_000, 20_000, 250), || false);
        let (gaps, stolen_ns, longest_ns) = metered.detour.gaps.sums();
        assert!((90..160).contains(&gaps), "{gaps}");
        assert_eq!((stolen_ns, longest_ns), (gaps * 20_000, 20_000));
        assert!(
            (metered.quanta.excess_percent() - 0.5).abs() < 0.1,
            "{}",
            metered.quanta.excess_percent()
        );
        assert_eq!((metered.quanta.times.min(), metered.quanta.times.max), (32_000, 52_000));
        let times = metered.detour.watched_ticks + metered.quanta.worked_ticks;
        assert!((990_000_000..=1_000_000_000).contains(&times), "{times}");
    }

    #[test]
    fn every_gap_belongs_to_one_meter() {
        let metered = run(SyntheticCpu::ticking(4_000_000, 1_000_000, 190), || false);
        let longer = |bin: &&crate::noise::Bin| bin.from_ns > 500_000;
        let in_quanta: u64 =
            metered.quanta.times.bins().iter().filter(longer).map(|bin| bin.count).sum();
        assert_eq!(metered.detour.gaps.sums().0 + in_quanta, 190);
    }

    #[test]
    fn overlong_gap_leaves_the_other_meter_a_turn() {
        let metered = run(SyntheticCpu::new(&[(1_000_000, 3_000_000_000)]), || false);
        assert_eq!(metered.detour.gaps.sums(), (1, 3_000_000_000, 3_000_000_000));
        assert!(metered.quanta.times.count > 100);
    }

    #[test]
    fn stop_is_checked_between_turns() {
        assert_eq!(run(SyntheticCpu::new(&[]), || true).quanta.times.count, 0);
        let asked = std::cell::Cell::new(0);
        let twice = || asked.replace(asked.get() + 1) == 2;
        let metered = run(SyntheticCpu::new(&[]), twice);
        assert!(metered.detour.watched_ticks <= 15_000_010 && metered.quanta.times.count > 100);
    }
}
