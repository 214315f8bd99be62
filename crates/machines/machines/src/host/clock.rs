//! The clock of measurements: the processor's counter if it can be trusted, else the kernel's
//! clock.

mod counter;
mod step;

use seatmap_data::port::Stamp;
use seatmap_os::Root;
use std::time::{Duration, Instant};

pub use step::step_of;

/// The time for which the counter is compared with the kernel's clock. Both ends are read to about
/// 30 ns, so the rate is known to a few parts in a million.
const CALIBRATION: Duration = Duration::from_millis(20);

const STEP_READINGS: usize = 20_000;

/// This computer's clock.
///
/// On x86-64 with an invariant time-stamp counter (CPUID 8000_0007h, EDX bit 8) that the kernel
/// offers as a clock, the clock is RDTSCP; on 64-bit Arm it is the virtual counter; elsewhere it is
/// `CLOCK_MONOTONIC_RAW`.
#[derive(Clone)]
pub struct HostClock {
    source: ClockSource,
    flaw: Option<CounterFlaw>,
    ns_per_tick: f64,
    step_ns: f64,
}

/// The counter that a clock reads.
#[derive(Clone, Copy)]
pub enum ClockSource {
    /// The time-stamp counter of x86-64.
    Tsc,
    /// The virtual counter of 64-bit Arm.
    Cntvct,
    /// The kernel's `CLOCK_MONOTONIC_RAW`.
    Kernel,
}

/// Why the processor's own counter is not the clock.
#[derive(Clone, Copy)]
pub enum CounterFlaw {
    /// The processor has no counter of constant rate.
    NotInvariant,
    /// The kernel does not offer it as a clock: it may show another time on each CPU.
    Distrusted,
}

impl ClockSource {
    /// The word used in profiles.
    pub fn word(self) -> &'static str {
        match self {
            ClockSource::Tsc => "tsc",
            ClockSource::Cntvct => "cntvct",
            ClockSource::Kernel => "clock_gettime",
        }
    }
}

impl HostClock {
    /// Chooses the best available clock, calibrates it and measures its step. Takes about 20 ms.
    pub fn calibrated() -> Self {
        let trusted = counter::trusted(&Root::new("/"));
        let source = trusted.unwrap_or(ClockSource::Kernel);
        let ns_per_tick = match source {
            ClockSource::Kernel => 1.0,
            _ => ns_per_tick(source),
        };
        let step_ticks = step_of((0..STEP_READINGS).map(|_| counter::read(source).ticks));
        let flaw = trusted.err();
        HostClock { source, flaw, ns_per_tick, step_ns: step_ticks as f64 * ns_per_tick }
    }

    /// Why the clock is not the processor's own counter; `None` if it is.
    pub fn flaw(&self) -> Option<CounterFlaw> {
        self.flaw
    }

    /// The counter that this clock reads.
    pub fn source(&self) -> ClockSource {
        self.source
    }

    /// Nanoseconds per tick.
    pub fn ns_per_tick(&self) -> f64 {
        self.ns_per_tick
    }

    /// The smallest step of the clock, in nanoseconds.
    pub fn step_ns(&self) -> f64 {
        self.step_ns
    }

    /// The time, and the CPU on which it was read.
    #[inline(always)]
    pub fn stamp(&self) -> Stamp {
        counter::read(self.source)
    }

    /// Ticks in this many core cycles. The counter of x86-64 runs at the nominal core frequency, so
    /// both are equal there. Elsewhere user space cannot read the frequency, and a cycle is taken
    /// as 1/3 ns.
    pub fn ticks_in(&self, cycles: u64) -> u64 {
        match self.source {
            ClockSource::Tsc => cycles,
            _ => (cycles as f64 / 3.0 / self.ns_per_tick) as u64,
        }
    }

    /// The clock's properties for a profile.
    pub fn describe(&self) -> seatmap_data::machine::Clock {
        seatmap_data::machine::Clock {
            step_ns: Some(self.step_ns),
            source: Some(self.source.word().to_owned()),
            frequency_hz: Some((1e9 / self.ns_per_tick).round()),
            quantised: false,
        }
    }
}

fn ns_per_tick(source: ClockSource) -> f64 {
    let start_ticks = counter::read(source).ticks;
    let start = Instant::now();
    let mut elapsed = Duration::ZERO;
    while elapsed < CALIBRATION {
        elapsed = start.elapsed();
    }
    let ticks = counter::read(source).ticks - start_ticks;
    elapsed.as_nanos() as f64 / ticks.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_has_a_plausible_rate_and_step() {
        let clock = HostClock::calibrated();
        let hz = clock.describe().frequency_hz.unwrap();
        assert!((1e6..1e10).contains(&hz), "{hz} Hz");
        assert!(clock.step_ns() > 0.0 && clock.step_ns() < 1e6, "{} ns", clock.step_ns());
    }

    #[test]
    fn stamp_names_the_cpu() {
        let cpu = seatmap_os::affinity::current().unwrap()[0];
        let stamp = std::thread::spawn(move || {
            seatmap_os::affinity::pin(&[cpu]).unwrap();
            HostClock::calibrated().stamp()
        });
        assert_eq!(stamp.join().unwrap().pu, cpu);
    }
}
