//! Noise: time that the system takes from a program for its own work.
//!
//! Each CPU gets one pinned thread with two meters that take turns. The **detour loop** reads the
//! clock continuously and records every gap between two readings that exceeds the loop's own time:
//! it shows when and how long a program stood still. **Fixed work quanta** time the same integer
//! work repeatedly: they also show slowdowns without a stop (a busy SMT sibling, a lower
//! frequency). Quanta follow Petrini, Kerbyson & Pakin 2003 ("The case of the missing supercomputer
//! performance") and Sottile & Minnich 2004 ("Analysis of microbenchmarks for performance tuning of
//! clusters"), the loop Beckman et al. 2006 ("The influence of operating systems on the performance
//! of collective operations at extreme scale").
//!
//! **Turns.** A turn lasts 5 to 15 ms, drawn from a fixed sequence so that neither meter follows
//! the tick. It begins with the last reading of the previous one, so no time is lost and every gap
//! belongs to the meter that it hit. Both exclude recording.
//!
//! **Sources.** The kernel counts the events on each CPU; the counters are read before and after.
//! On request, the kernel's trace shows for each long gap which task or handler had the CPU.
//!
//! ```no_run
//! use seatmap_health::noise::NoiseOptions;
//! use std::ops::ControlFlow;
//!
//! let report = seatmap_health::noise::measure(&[1], &NoiseOptions::default(), &mut |_| {
//!     ControlFlow::Continue(())
//! })?;
//! println!("{:.2} % stolen", report.cpus[0].stolen_percent);
//! # Ok::<(), seatmap_health::noise::Error>(())
//! ```

mod calibration;
mod cpu;
mod detour;
mod error;
mod gaps;
mod heard;
mod histogram;
mod host_cpu;
mod measure;
mod meter;
mod options;
mod quanta;
mod report;
mod seat;
mod sources;
mod trace;

#[cfg(test)]
mod synthetic;

pub use error::Error;
pub use gaps::Gap;
pub use heard::{NoiseListener, OnCpu, ProgramNoise};
pub use histogram::{Bin, Histogram};
pub use measure::{measure, measure_briefly};
pub use options::NoiseOptions;
pub use report::{CpuNoise, FORMAT, MeterCalibration, NoiseReport};
pub use seat::reachable;
pub use sources::NoiseSource;
pub use trace::{GapCause, GapShare, Traced, TracedGap};
