//! The faults themselves, which environment variables ask for.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// The process aborts at this point, counted from 1. There is a point before and after every
/// change.
const FAIL_AT: &str = "SEATMAP_CELL_FAIL_AT";

/// The point at which the guardian aborts, which does not inherit [`FAIL_AT`].
const GUARDIAN_FAIL_AT: &str = "SEATMAP_CELL_GUARDIAN_FAIL_AT";

/// The process stops at this point, and lets others die meanwhile. The test continues it.
const PAUSE_AT: &str = "SEATMAP_CELL_PAUSE_AT";

static PASSED: AtomicU64 = AtomicU64::new(0);

/// Keeps a process that is started from what was meant for its parent.
pub fn spare(child: &mut Command) -> &mut Command {
    child.env_remove(FAIL_AT).env_remove(PAUSE_AT)
}

/// Keeps a guardian from what was meant for its parent, and gives it what is meant for it.
pub(crate) fn spare_guardian(child: &mut Command) -> &mut Command {
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
        // As after SIGKILL: nothing is unwound, flushed or said.
        std::process::abort();
    }
    if is_here(PAUSE_AT, passed) {
        // SAFETY: it acts on this process alone.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
}

fn is_here(variable: &str, passed: u64) -> bool {
    std::env::var(variable).is_ok_and(|at| at.parse() == Ok(passed))
}
