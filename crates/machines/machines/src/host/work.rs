//! A fixed piece of work, timed on pinned threads to compare the speeds of CPUs.

use crate::host::HostClock;
use crate::host::crew::{Crew, CrewError};
use crate::host::together::Together;
use seatmap_data::statistics::least;
use seatmap_os::partners::PartnerThread;
use std::hint::black_box;

const WANTED_NS: f64 = 2e6;

/// The time for which a CPU works before it is timed: idle cores need a few milliseconds to clock
/// up.
const WARM_UP_NS: f64 = 4e6;

const TRIAL_STEPS: u64 = 20_000;

/// Words of the pointer chain: 16 KiB, which fits every first-level cache.
const WORDS: usize = 4096;

/// A step of a walk that visits every word before it repeats: odd, and not near a power of two.
const STRIDE: usize = 1549;

/// The same work on any CPU: integer, floating-point and dependent loads by turns.
pub struct HostWork {
    crew: Crew,
    clock: HostClock,
    steps: u64,
}

impl HostWork {
    /// Finds the number of steps that take about 2 ms on this CPU; every CPU then does as many.
    ///
    /// # Errors
    /// No thread could be pinned to it.
    pub fn sized_on(cpu: u32) -> Result<Self, CrewError> {
        let mut crew = Crew::default();
        let clock = HostClock::calibrated();
        let trials =
            crew.run(&[cpu], &|_| least((0..20).map(|_| timed_ns(&clock, || work(TRIAL_STEPS)))))?;
        let step_ns = trials.first().copied().unwrap_or(1.0) / TRIAL_STEPS as f64;
        let steps = (WANTED_NS / step_ns.max(1e-3)) as u64;
        Ok(HostWork { crew, clock, steps })
    }

    /// The time of the work on each of these CPUs at once, in nanoseconds. All begin together, and
    /// work until the last has ended.
    ///
    /// # Errors
    /// No thread could be pinned, or a CPU was lost meanwhile.
    pub fn time_ns(&mut self, cpus: &[u32]) -> Result<Vec<f64>, CrewError> {
        // A meeting is for one number of threads.
        let clock = &self.clock;
        let steps = self.steps;
        let together = &Together::default();
        self.crew.run_together(cpus, &|seat: &PartnerThread| {
            let began = clock.stamp().ticks;
            while (clock.stamp().ticks - began) as f64 * clock.ns_per_tick() < WARM_UP_NS {
                work(steps / 16);
            }
            together.begin(cpus.len(), clock, || seat.check());
            let ns = timed_ns(clock, || work(steps));
            together.keep_on(cpus.len(), clock, || {
                seat.check();
                work(steps / 64);
            });
            ns
        })
    }
}

fn timed_ns(clock: &HostClock, work: impl FnOnce()) -> f64 {
    let began = clock.stamp().ticks;
    work();
    (clock.stamp().ticks - began) as f64 * clock.ns_per_tick()
}

fn work(steps: u64) {
    let next: [u16; WORDS] = std::array::from_fn(|at| ((at + STRIDE) % WORDS) as u16);
    let next = black_box(next);
    let mut hash = black_box(1_u64);
    let mut sum = black_box(1.0_f64);
    let mut at = black_box(0_u16);
    for step in 0..steps {
        hash = (hash ^ step).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
        sum = sum.mul_add(0.999_999, 1e-9 * f64::from(hash as u8));
        at = next[usize::from(at) % WORDS];
        if hash & 0x1f == 0 {
            hash = hash.wrapping_add(u64::from(at));
        }
    }
    black_box((hash, sum, at));
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_os::affinity;

    #[test]
    fn every_cpu_works_alone_and_together() {
        let cpus = affinity::current().unwrap();
        let mut host = HostWork::sized_on(cpus[0]).unwrap();
        assert!(host.steps > 0);
        let alone = host.time_ns(&cpus[..1]).unwrap();
        let together = host.time_ns(&cpus).unwrap();
        assert!(alone.len() == 1 && together.len() == cpus.len());
        assert!(alone.iter().chain(&together).all(|ns| *ns > 0.0), "{alone:?} {together:?}");
        assert!(host.time_ns(&[500_000]).is_err());
    }

    #[test]
    fn walk_visits_every_word() {
        let mut at = 0;
        let mut met = vec![false; WORDS];
        for _ in 0..WORDS {
            met[at] = true;
            at = (at + STRIDE) % WORDS;
        }
        assert!(at == 0 && met.iter().all(|met| *met));
    }
}
