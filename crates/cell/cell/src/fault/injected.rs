//! The injected faults, controlled by environment variables.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// Aborts at this point, from 1, before and after every change.
const FAIL_AT: &str = "SEATMAP_CELL_FAIL_AT";

/// The guardian's point; it does not inherit [`FAIL_AT`].
const GUARDIAN_FAIL_AT: &str = "SEATMAP_CELL_GUARDIAN_FAIL_AT";

/// Stops at this point while others die.
const PAUSE_AT: &str = "SEATMAP_CELL_PAUSE_AT";

static PASSED: AtomicU64 = AtomicU64::new(0);

/// Excludes a child from its parent's faults.
pub fn spare(child: &mut Command) -> &mut Command {
    child.env_remove(FAIL_AT).env_remove(PAUSE_AT)
}

/// Excludes a guardian from its parent's faults, and passes its own.
pub fn spare_guardian(child: &mut Command) -> &mut Command {
    spare(child);
    match std::env::var_os(GUARDIAN_FAIL_AT) {
        Some(at) => child.env_remove(GUARDIAN_FAIL_AT).env(FAIL_AT, at),
        None => child,
    }
}

/// A point at which a process may be killed.
pub fn point() {
    let passed = PASSED.fetch_add(1, Ordering::Relaxed) + 1;
    if is_here(FAIL_AT, passed) {
        // Like SIGKILL: no unwinding, flushing or messages.
        std::process::abort();
    }
    if is_here(PAUSE_AT, passed) {
        // SAFETY: it affects only this process.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
}

fn is_here(variable: &str, passed: u64) -> bool {
    std::env::var(variable).is_ok_and(|at| at.parse() == Ok(passed))
}
