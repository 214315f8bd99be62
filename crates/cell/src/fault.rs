//! Sudden death on purpose, for tests: that a host is restored whatever happens is shown by dying everywhere.

use std::sync::atomic::{AtomicU64, Ordering};

/// For testing only: the process aborts at this point, counted from 1. There is a point before and after every change.
pub const FAIL_AT: &str = "SEATMAP_CELL_FAIL_AT";

/// For testing only: the same for the guardian, which does not inherit [`FAIL_AT`].
pub const GUARDIAN_FAIL_AT: &str = "SEATMAP_CELL_GUARDIAN_FAIL_AT";

static PASSED: AtomicU64 = AtomicU64::new(0);

/// A point at which a process may be killed.
pub(crate) fn point() {
    let passed = PASSED.fetch_add(1, Ordering::Relaxed) + 1;
    if std::env::var(FAIL_AT).is_ok_and(|at| at.parse() == Ok(passed)) {
        // As after SIGKILL: nothing is unwound, flushed or said.
        std::process::abort();
    }
}
