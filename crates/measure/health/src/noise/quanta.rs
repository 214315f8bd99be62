//! Fixed work quanta.

use super::calibration::Calibration;
use super::cpu::MeteredCpu;
use super::histogram::Histogram;

/// 2^10 bins per octave: times are accurate to a thousandth.
const SUB_BITS: u32 = 10;

pub struct Quanta {
    pub times: Histogram,
    pub worked_ticks: u64,
    shortest_ticks: u64,
}

impl Quanta {
    pub fn new() -> Self {
        Quanta { times: Histogram::new(SUB_BITS), worked_ticks: 0, shortest_ticks: u64::MAX }
    }

    #[inline(never)]
    pub fn work(
        &mut self,
        cpu: &mut impl MeteredCpu,
        own: &Calibration,
        from: u64,
        until: u64,
    ) -> u64 {
        let mut last = from;
        while last < until {
            cpu.work(own.quantum_steps);
            let ticks = cpu.ticks().saturating_sub(last);
            self.record(ticks, cpu.ns_per_tick());
            last = cpu.ticks();
        }
        last
    }

    fn record(&mut self, ticks: u64, ns_per_tick: f64) {
        self.times.record((ticks as f64 * ns_per_tick) as u64);
        self.worked_ticks += ticks;
        self.shortest_ticks = self.shortest_ticks.min(ticks);
    }

    pub fn excess_percent(&self) -> f64 {
        let ideal = self.shortest_ticks as f64 * self.times.count as f64;
        if self.worked_ticks == 0 { 0.0 } else { 100.0 * (1.0 - ideal / self.worked_ticks as f64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::synthetic::{READING, SyntheticCpu};

    const OWN: Calibration =
        Calibration { loop_ticks: READING as f64, threshold_ticks: 90, quantum_steps: 990 };

    #[test]
    fn known_gaps_lengthen_only_their_quanta() {
        let mut quanta = Quanta::new();
        // Gaps in the first and third quantum. Each takes 1000 ticks, with a reading of 10 in
        // between.
        let mut cpu = SyntheticCpu::new(&[(500, 300), (2500, 4000)]);
        quanta.work(&mut cpu, &OWN, 0, 1_000_000);
        let quiet = quanta
            .times
            .bins()
            .iter()
            .find(|bin| bin.from_ns <= 1000 && 1000 < bin.to_ns)
            .map(|bin| bin.count);
        assert_eq!(quiet, Some(quanta.times.count - 2));
        assert_eq!((quanta.times.min(), quanta.times.max), (1000, 5000));
        let disturbed: Vec<u64> =
            quanta.times.bins().iter().map(|bin| bin.from_ns).filter(|from| *from > 1000).collect();
        assert_eq!(disturbed, [1300, 5000]);
        let stolen = 4300.0 / quanta.worked_ticks as f64;
        assert!(
            (quanta.excess_percent() - 100.0 * stolen).abs() < 1e-9,
            "{}",
            quanta.excess_percent()
        );
    }

    #[test]
    fn empty_quanta_have_no_excess() {
        assert_eq!(Quanta::new().excess_percent(), 0.0);
    }
}
