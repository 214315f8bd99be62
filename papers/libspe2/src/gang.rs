//! Gangs: contexts that are seated next to one another.

use crate::call::{Errno, number, pointer};
use crate::handle::Handle;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A gang as C holds it (`spe_gang_context_ptr_t`).
pub type GangHandle = Handle<Gang>;

/// A gang: the seat of its next context.
#[derive(Debug, Default)]
pub struct Gang {
    next: AtomicUsize,
    /// A context near the memory: there can be one.
    has_memory: AtomicBool,
}

impl Gang {
    /// The seat behind the last one.
    #[must_use]
    pub fn next_seat(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes the place near the memory, for a context that asks for it: the kernel gives it once.
    ///
    /// # Errors
    /// `EEXIST`.
    pub fn take_memory(&self, is_asked: bool) -> Result<(), Errno> {
        if is_asked && self.has_memory.swap(true, Ordering::Relaxed) {
            return Err(Errno(libc::EEXIST));
        }
        Ok(())
    }

    /// The seat next to one.
    #[must_use]
    pub fn seat_after(&self, seat: usize) -> usize {
        self.next.fetch_max(seat + 2, Ordering::Relaxed);
        seat + 1
    }
}

/// Creates a gang; no flags are defined.
#[unsafe(no_mangle)]
pub extern "C" fn spe_gang_context_create(flags: c_uint) -> *mut GangHandle {
    pointer(
        || if flags == 0 { Ok(Handle::give(Gang::default())) } else { Err(Errno(libc::EINVAL)) },
    )
}

/// Destroys a gang. Its contexts go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_gang_context_destroy(gang: *mut GangHandle) -> c_int {
    // SAFETY: C's promise.
    number(|| unsafe { Handle::destroy(gang, libc::ESRCH, |_| None) }.map(|()| 0))
}
