//! The kernel's activity during a measurement, by its own trace.
//!
//! Counters say how often an event came; the trace says when it began and ended. So each of the
//! long gaps of the detour loop can be shared out among the tasks and handlers that had the CPU in
//! it. The rest is unexplained: a hypervisor that ran another guest, the firmware, the hardware.
//! The meters alone decide which times are gaps; the trace only explains them.
//!
//! The trace is an instance of its own beside the kernel's (Documentation/trace/ftrace.rst), with
//! handlers of interrupts, softirqs and changes of task, on the metered CPUs alone. It is removed
//! in the end; one whose maker was killed goes with the next. Writing an event takes the traced CPU
//! part of a microsecond, which is in the gaps.

mod blame;
mod instance;
mod line;
mod spans;

pub use blame::{GapCause, GapShare, Traced, TracedGap};
pub(super) use instance::Instance;

use super::gaps::Gap;
use seatmap_machines::host::HostClock;

/// The trace of one CPU.
pub(super) struct CpuTrace {
    /// The text that the kernel writes, a line an event.
    text: Vec<u8>,
    /// Whether earlier events have been written over.
    is_cut: bool,
}

/// Two readings of the meter's clock with the trace's time (`CLOCK_MONOTONIC`) at each: the begin
/// and the end of the measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) begin: Mark,
    pub(super) end: Mark,
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    ticks: u64,
    mono_ns: u64,
}

impl Mark {
    /// The current time. Of several tries, takes the one with the least time between its two
    /// readings.
    pub(super) fn now(clock: &HostClock) -> Self {
        let tried = (0..16).map(|_| {
            let before = clock.stamp().ticks;
            let mono_ns = mono_ns();
            let after = clock.stamp().ticks;
            // The other clock was read between the two: the middle is wrong by half of that at
            // most.
            let took = after.saturating_sub(before);
            (took, Mark { ticks: before + took / 2, mono_ns })
        });
        tried.min_by_key(|(took, _)| *took).map_or(Mark { ticks: 0, mono_ns: 0 }, |(_, mark)| mark)
    }
}

impl Marks {
    /// The trace's time of a reading: by the line through both marks, so that no error of
    /// calibration adds up.
    fn mono_ns(&self, ticks: f64) -> f64 {
        let span = (self.end.ticks - self.begin.ticks).max(1) as f64;
        let ns_per_tick = (self.end.mono_ns - self.begin.mono_ns) as f64 / span;
        self.begin.mono_ns as f64 + (ticks - self.begin.ticks as f64) * ns_per_tick
    }
}

/// The time that traces are kept in.
fn mono_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of our own.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Shares the gaps of one CPU out; `None` where the recording lacks the meter's mark. `origin` is
/// the reading that gaps are counted from.
pub(super) fn explain(
    recording: &CpuTrace,
    gaps: &[Gap],
    marks: &Marks,
    origin: u64,
    ns_per_tick: f64,
) -> Option<Traced> {
    let spans = spans::of(&recording.text)?;
    // Of gaps before the first event that is left, the trace knows nothing.
    let from_ns = if recording.is_cut { spans.first_ns } else { 0 };
    Some(blame::traced(gaps, &spans, from_ns, |gap: &Gap| {
        marks.mono_ns(origin as f64 + gap.start_ns as f64 / ns_per_tick) as u64
    }))
}
