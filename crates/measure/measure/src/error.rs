//! Why a measurement failed.

use crate::journal::JournalError;
use seatmap_data::statistics::words::counted;

/// Why a measurement failed; `E` is the machine's own error.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError<E: std::error::Error + 'static> {
    /// Fewer than two PUs.
    #[error("a distance needs two CPUs, and there is {0} to measure")]
    TooFew(usize),
    /// The machine failed.
    #[error(transparent)]
    Machine(E),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A value is faster than any cache.
    #[error(
        "CPUs {a} and {b} read {round_trip_ns:.2} ns a round trip, less than two first-level cache \
         hits take: the clock or the pinning is broken, and nothing was kept"
    )]
    BelowFloor {
        /// One PU.
        a: u32,
        /// The other PU.
        b: u32,
        /// The value read.
        round_trip_ns: f64,
    },
    /// All batches of a pair were discarded, repeatedly.
    #[error(
        "no undisturbed batch between CPUs {a} and {b} in {visits}: too much else runs on them; \
         'seatmap doctor' tells what", visits = counted(*.visits, "visit"))]
    Disturbed {
        /// One PU.
        a: u32,
        /// The other PU.
        b: u32,
        /// Visits made.
        visits: u32,
    },
    /// The machine offers too few lines.
    #[error("{wanted} candidate lines were asked for, and this machine offers {offered}")]
    TooFewLines {
        /// Requested lines.
        wanted: u32,
        /// Offered lines.
        offered: u32,
    },
}
