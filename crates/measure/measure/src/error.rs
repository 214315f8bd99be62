//! Why a measurement failed.

use crate::journal::JournalError;
use seatmap_data::statistics::words::counted;

/// Why a measurement failed; `E` is the machine's own error.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError<E: std::error::Error + 'static> {
    /// Fewer than two PUs.
    #[error("need at least two CPUs to measure a distance; found {0}")]
    TooFew(usize),
    /// The machine failed.
    #[error(transparent)]
    Machine(E),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A value is faster than any cache.
    #[error(
        "a round trip between CPUs {a} and {b} reads {round_trip_ns:.2} ns, less than two L1 cache \
         hits: the clock or the pinning is broken; nothing was kept"
    )]
    BelowFloor {
        /// One PU.
        a: u32,
        /// The other PU.
        b: u32,
        /// Value read.
        round_trip_ns: f64,
    },
    /// All batches of a pair were discarded, repeatedly.
    #[error(
        "no undisturbed batch between CPUs {a} and {b} in {visits}: other work keeps them busy; \
         run 'seatmap doctor' for the cause", visits = counted(*.visits, "visit"))]
    Disturbed {
        /// One PU.
        a: u32,
        /// The other PU.
        b: u32,
        /// Visits made.
        visits: u32,
    },
    /// The machine offers too few lines.
    #[error(
        "too few cache lines: {wanted} candidate lines needed, {offered} available on this machine"
    )]
    TooFewLines {
        /// Requested lines.
        wanted: u32,
        /// Offered lines.
        offered: u32,
    },
}
