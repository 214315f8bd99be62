//! The edge to C: errors become `errno`, and no panic passes.

use seatmap_spe::SpeError;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl From<SpeError> for Errno {
    fn from(error: SpeError) -> Self {
        // These are a programmer's to repair, and a number does not say enough.
        if matches!(
            error,
            SpeError::Image(_)
                | SpeError::TooLarge { .. }
                | SpeError::Transfer(_)
                | SpeError::Thread { .. }
                | SpeError::Machine(_)
                | SpeError::Argument(_)
        ) {
            complain(&error);
        }
        Errno(error.errno())
    }
}

/// Writes an error and its causes on the standard error, as one line.
pub fn complain(error: &dyn std::error::Error) {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let causes: String = causes.map(|cause| format!(": {cause}")).collect();
    eprintln!("libspe2: {error}{causes}");
}

/// Does the work of a call that returns a number; -1 and `errno` where it fails.
pub fn number(work: impl FnOnce() -> Result<i32, Errno>) -> i32 {
    guarded(work).unwrap_or(-1)
}

/// Does the work of a call that returns a pointer; NULL and `errno` where it fails.
pub fn pointer<T>(work: impl FnOnce() -> Result<*mut T, Errno>) -> *mut T {
    guarded(work).unwrap_or(std::ptr::null_mut())
}

fn guarded<T>(work: impl FnOnce() -> Result<T, Errno>) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Errno(libc::EFAULT))) {
        Ok(value) => Some(value),
        Err(Errno(code)) => {
            // SAFETY: this thread's own error number.
            unsafe { *libc::__errno_location() = code };
            None
        }
    }
}
