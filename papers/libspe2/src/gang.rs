//! Gangs: contexts on neighbouring seats.

use crate::call::{Errno, number, pointer};
use crate::handle::Handle;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A gang in C (`spe_gang_context_ptr_t`).
pub type GangHandle = Handle<Gang>;

/// A gang, with its next context's seat.
#[derive(Debug, Default)]
pub struct Gang {
    next: AtomicUsize,
    has_memory: AtomicBool,
}

impl Gang {
    /// The seat after the last.
    pub fn next_seat(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Reserves the place near the memory, if requested; the kernel gives it once.
    ///
    /// # Errors
    /// `EEXIST`.
    pub fn take_memory(&self, is_asked: bool) -> Result<(), Errno> {
        if is_asked && self.has_memory.swap(true, Ordering::Relaxed) {
            return Err(Errno(libc::EEXIST));
        }
        Ok(())
    }

    /// The seat next to another.
    pub fn seat_after(&self, seat: usize) -> usize {
        self.next.fetch_max(seat + 2, Ordering::Relaxed);
        seat + 1
    }
}

/// Creates a gang; flags are undefined.
#[unsafe(no_mangle)]
pub extern "C" fn spe_gang_context_create(flags: c_uint) -> *mut GangHandle {
    pointer(
        || if flags == 0 { Ok(Handle::give(Gang::default())) } else { Err(Errno(libc::EINVAL)) },
    )
}

/// Destroys a gang; its contexts stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_gang_context_destroy(gang: *mut GangHandle) -> c_int {
    // SAFETY: C's promise.
    number(|| unsafe { Handle::destroy(gang, libc::ESRCH, |_| None) }.map(|()| 0))
}
