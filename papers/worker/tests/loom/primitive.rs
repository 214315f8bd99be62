//! Atomics and sleeping as loom sees them.

pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A word that a thread can sleep on.
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

    /// As the kernel's: it sleeps only where the word has the value, and a wake-up between that
    /// look and the sleep counts.
    pub fn wait(&self, value: u32) {
        if self.word.load(Ordering::SeqCst) == value {
            self.woken.wait();
        }
    }

    pub fn wake(&self) {
        self.woken.notify();
    }
}

/// Between two looks at a line that another core will write.
pub fn pause() {
    loom::thread::yield_now();
}
