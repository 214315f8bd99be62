//! The detour loop.

use super::calibration::Calibration;
use super::cpu::MeteredCpu;
use super::gaps::{Gap, Gaps};

/// From this length on the loop asks whether another task ran, which takes 1 us.
const LONG_NS: u64 = 50_000;

#[derive(Default)]
pub struct Detour {
    pub origin: u64,
    /// `None` if the kernel does not count it.
    pub waited_ns: Option<u64>,
    pub gaps: Gaps,
    pub watched_ticks: u64,
    pub recording_ticks: u64,
}

impl Detour {
    pub fn settle(&mut self, cpu: &mut impl MeteredCpu) {
        self.waited_ns = cpu.waited_ns();
    }

    /// Returns the last reading.
    #[inline(never)]
    pub fn watch(
        &mut self,
        cpu: &mut impl MeteredCpu,
        own: &Calibration,
        from: u64,
        until: u64,
    ) -> u64 {
        // Locals: the loop must not read memory through `self`.
        let threshold = own.threshold_ticks;
        let mut last = from;
        let mut recording = 0;
        while last < until {
            let now = cpu.ticks();
            let ticks = now.saturating_sub(last);
            last = now;
            if ticks > threshold {
                self.record(cpu, own, now - ticks, ticks);
                // The time for recording is not a gap.
                last = cpu.ticks();
                recording += last.saturating_sub(now);
            }
        }
        self.recording_ticks += recording;
        self.watched_ticks += last.saturating_sub(from).saturating_sub(recording);
        last
    }

    #[cold]
    fn record(&mut self, cpu: &mut impl MeteredCpu, own: &Calibration, begin: u64, ticks: u64) {
        let ns_per_tick = cpu.ns_per_tick();
        let length_ns = ((ticks as f64 - own.loop_ticks) * ns_per_tick) as u64;
        let preempted_ns =
            if length_ns >= LONG_NS { self.waited(cpu).map(|ns| ns.min(length_ns)) } else { None };
        let start_ns = (begin.saturating_sub(self.origin) as f64 * ns_per_tick) as u64;
        self.gaps.record(Gap { start_ns, length_ns, preempted_ns });
    }

    fn waited(&mut self, cpu: &mut impl MeteredCpu) -> Option<u64> {
        let now_ns = cpu.waited_ns();
        let before_ns = std::mem::replace(&mut self.waited_ns, now_ns);
        Some(now_ns?.saturating_sub(before_ns?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::synthetic::{READING, SyntheticCpu};

    const OWN: Calibration =
        Calibration { loop_ticks: READING as f64, threshold_ticks: 90, quantum_steps: 1000 };

    fn watched(taken: &[(u64, u64)], until: u64) -> Detour {
        let mut detour = Detour::default();
        detour.watch(&mut SyntheticCpu::new(taken), &OWN, 0, until);
        detour
    }

    #[test]
    fn known_gaps_are_found_exactly() {
        // In this order: shorter than the threshold; at it; above; within a reading; two in one;
        // long.
        let taken = [
            (105, 50),
            (1005, 80),
            (2005, 81),
            (3001, 500),
            (5002, 300),
            (5004, 300),
            (9000, 1_000_000),
        ];
        let found = watched(&taken, 2_000_000).gaps.timeline();
        let lengths: Vec<u64> = found.iter().map(|gap| gap.length_ns).collect();
        assert_eq!(lengths, [81, 500, 600, 1_000_000]);
        for (gap, (begin, _)) in found.iter().zip([taken[2], taken[3], taken[4], taken[6]]) {
            assert!(gap.start_ns <= begin && begin - gap.start_ns < READING, "{gap:?} for {begin}");
        }
    }

    #[test]
    fn quiet_cpu_has_no_gaps() {
        let detour = watched(&[], 100_000);
        assert_eq!(detour.gaps.sums(), (0, 0, 0));
        assert_eq!((detour.watched_ticks, detour.recording_ticks), (100_000, 0));
    }

    #[test]
    fn recording_time_is_separate() {
        let detour = watched(&[(105, 1000), (5005, 2000)], 10_000);
        assert_eq!(detour.gaps.sums(), (2, 3000, 2000));
        assert_eq!(detour.recording_ticks, 2 * READING);
        assert!(
            (10_000 - 2 * READING..10_010).contains(&detour.watched_ticks),
            "{}",
            detour.watched_ticks
        );
    }

    #[test]
    fn only_time_of_other_tasks_is_preemption() {
        let taken = [(105, 60_000), (100_005, 90_000), (300_005, 70_000)];
        let mut cpu = SyntheticCpu::new(&taken);
        // No task has the second gap; another task has a part of the third.
        cpu.preempted = vec![60_000, 0, 50_000];
        let mut detour = Detour::default();
        detour.settle(&mut cpu);
        detour.watch(&mut cpu, &OWN, 0, 1_000_000);
        let found: Vec<Option<u64>> =
            detour.gaps.timeline().iter().map(|gap| gap.preempted_ns).collect();
        assert_eq!(found, [Some(60_000), Some(0), Some(50_000)]);
        assert_eq!(detour.gaps.longest_preemption_ns, 60_000);
        assert_eq!(
            watched(&taken, 1_000_000).gaps.timeline()[0].preempted_ns,
            None,
            "nobody has counted before"
        );
    }

    #[test]
    fn gap_across_the_end_is_included() {
        assert_eq!(watched(&[(9_995, 7777)], 10_000).gaps.sums(), (1, 7777, 7777));
    }
}
