//! Kernel activity during a measurement, from the kernel's trace.
//!
//! Each long gap of the detour loop can therefore be divided among the tasks and handlers that had
//! the CPU; the rest is unexplained: another guest of the hypervisor, the firmware or the hardware.
//!
//! The trace is a separate instance (Documentation/trace/ftrace.rst). It records interrupt
//! handlers, softirqs and task switches, only on the measured CPUs. It is removed at the end, or by
//! the next trace if its process was killed. Writing an event takes a fraction of a microsecond,
//! which the gaps include.

mod blame;
mod instance;
mod line;
mod spans;

pub use blame::{GapCause, GapShare, Traced, TracedGap};
pub use instance::Instance;

use super::gaps::Gap;
use seatmap_machines::host::HostClock;

pub struct CpuTrace {
    text: Vec<u8>,
    /// Whether earlier events were overwritten.
    is_cut: bool,
}

/// Readings of the meter's and the trace's clock (`CLOCK_MONOTONIC`).
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    pub begin: Mark,
    pub end: Mark,
}

#[derive(Clone, Copy, Debug)]
pub struct Mark {
    ticks: u64,
    mono_ns: u64,
}

impl Mark {
    /// The try with the shortest time between readings.
    pub fn now(clock: &HostClock) -> Self {
        let tried = (0..16).map(|_| {
            let before = clock.stamp().ticks;
            let mono_ns = mono_ns();
            let after = clock.stamp().ticks;
            // The other clock was read in between: the middle is wrong by at most half.
            let took = after.saturating_sub(before);
            (took, Mark { ticks: before + took / 2, mono_ns })
        });
        tried.min_by_key(|(took, _)| *took).map_or(Mark { ticks: 0, mono_ns: 0 }, |(_, mark)| mark)
    }
}

impl Marks {
    /// By interpolation, so calibration errors do not add up.
    fn mono_ns(&self, ticks: f64) -> f64 {
        let span = (self.end.ticks - self.begin.ticks).max(1) as f64;
        let ns_per_tick = (self.end.mono_ns - self.begin.mono_ns) as f64 / span;
        self.begin.mono_ns as f64 + (ticks - self.begin.ticks as f64) * ns_per_tick
    }
}

fn mono_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of our own.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// `None` if the recording lacks the meter's mark. Gaps are counted from the reading `origin`.
pub fn explain(
    recording: &CpuTrace,
    gaps: &[Gap],
    marks: &Marks,
    origin: u64,
    ns_per_tick: f64,
) -> Option<Traced> {
    let spans = spans::of(&recording.text)?;
    let from_ns = if recording.is_cut { spans.first_ns } else { 0 };
    Some(blame::traced(gaps, &spans, from_ns, |gap: &Gap| {
        marks.mono_ns(origin as f64 + gap.start_ns as f64 / ns_per_tick) as u64
    }))
}
