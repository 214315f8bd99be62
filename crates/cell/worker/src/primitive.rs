//! Atomics and sleeping, the real ones or loom's.

#[cfg(feature = "loom")]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(feature = "loom"))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A word that a thread can sleep on.
pub struct Futex {
    word: AtomicU32,
    #[cfg(feature = "loom")]
    woken: loom::sync::Notify,
}

impl Futex {
    pub fn new(value: u32) -> Self {
        Futex {
            word: AtomicU32::new(value),
            #[cfg(feature = "loom")]
            woken: loom::sync::Notify::new(),
        }
    }

    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps until woken, unless the word has another value. May return early.
    #[cfg(not(feature = "loom"))]
    pub fn wait(&self, value: u32) {
        let none = std::ptr::null::<libc::timespec>();
        // SAFETY: the word lives as long as `self`; without a timeout the kernel only compares it and sleeps.
        unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), WAIT, value, none) };
    }

    /// Wakes the thread that sleeps.
    #[cfg(not(feature = "loom"))]
    pub fn wake(&self) {
        // SAFETY: the word lives as long as `self`; the kernel only looks its address up.
        unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), WAKE, 1) };
    }

    /// As the kernel's: it sleeps only where the word has the value, and a wake-up between that look and the sleep
    /// counts.
    #[cfg(feature = "loom")]
    pub fn wait(&self, value: u32) {
        if self.word.load(Ordering::SeqCst) == value {
            self.woken.wait();
        }
    }

    #[cfg(feature = "loom")]
    pub fn wake(&self) {
        self.woken.notify();
    }
}

#[cfg(not(feature = "loom"))]
const WAIT: libc::c_int = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
#[cfg(not(feature = "loom"))]
const WAKE: libc::c_int = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;

/// Between two looks at a line that another core will write.
pub fn pause() {
    #[cfg(feature = "loom")]
    loom::thread::yield_now();
    #[cfg(not(feature = "loom"))]
    std::hint::spin_loop();
}
