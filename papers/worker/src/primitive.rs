//! Atomics and sleeping. `tests/loom` has the same names for loom.

pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A word on which a thread can sleep.
pub struct Futex {
    word: AtomicU32,
}

impl Futex {
    pub fn new(value: u32) -> Self {
        Futex { word: AtomicU32::new(value) }
    }

    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps until woken, if the word has this value. It may return early.
    pub fn wait(&self, value: u32) {
        let none = std::ptr::null::<libc::timespec>();
        // SAFETY: the word lives as long as `self`; without a timeout the kernel only compares it
        // and sleeps.
        unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), WAIT, value, none) };
    }

    /// Wakes the sleeping thread.
    pub fn wake(&self) {
        // SAFETY: the word lives as long as `self`; the kernel only looks its address up.
        unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), WAKE, 1) };
    }
}

const WAIT: libc::c_int = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
const WAKE: libc::c_int = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;

/// Pauses between two looks at a line that another core will write.
pub fn pause() {
    std::hint::spin_loop();
}
