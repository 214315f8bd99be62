//! Atomics and sleeping for loom.

pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A word on which a thread can sleep.
pub struct Futex {
    word: AtomicU32,
    woken: loom::sync::Notify,
}

impl Futex {
    pub fn new(value: u32) -> Self {
        Futex { word: AtomicU32::new(value), woken: loom::sync::Notify::new() }
    }

    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// As in the kernel: sleeps only if the word has the value, and a wakeup between that check and
    /// the sleep counts.
    pub fn wait(&self, value: u32) {
        if self.word.load(Ordering::SeqCst) == value {
            self.woken.wait();
        }
    }

    pub fn wake(&self) {
        self.woken.notify();
    }
}

/// Pauses between two looks at a line that another core will write.
pub fn pause() {
    loom::thread::yield_now();
}
