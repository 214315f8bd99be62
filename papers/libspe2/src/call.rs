//! The border to C: errors become `errno`, and panics stop here.

use seatmap_spe::SpeError;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl From<SpeError> for Errno {
    fn from(error: SpeError) -> Self {
        // These errors are bugs of the program, and need more than a number.
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

/// Prints an error and its causes on stderr, as one line.
pub fn complain(error: &dyn std::error::Error) {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let causes: String = causes.map(|cause| format!(": {cause}")).collect();
    eprintln!("libspe2: {error}{causes}");
}

/// Runs a call that returns a number; on failure -1 and `errno`.
pub fn number(work: impl FnOnce() -> Result<i32, Errno>) -> i32 {
    guarded(work).unwrap_or(-1)
}

/// Runs a call that returns a pointer; on failure NULL and `errno`.
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
