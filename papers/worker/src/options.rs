//! Sizes and policies of a runtime.

use std::time::Duration;

/// Bytes of a local store: the Cell's.
pub const STORE_BYTES: usize = 256 << 10;

/// How a reader waits for a writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polling {
    /// It looks all the time: the fastest, and the core is never free.
    #[default]
    Spin,
    /// It looks for so long, then sleeps until woken, which costs a writer a system call and the
    /// reader tens of microseconds.
    Adaptive(Duration),
    /// It sleeps at once.
    Sleep,
}

impl Polling {
    /// Whether a writer must look for a sleeper.
    #[must_use]
    pub fn may_sleep(self) -> bool {
        self != Polling::Spin
    }
}

/// The parts that a runtime is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerOptions {
    /// Bytes of each worker's local store.
    pub store_bytes: usize,
    /// How workers wait, and how programs wait for workers.
    pub polling: Polling,
    /// Whether the two signal registers gather bits (OR) instead of keeping the last value.
    pub signals_or: [bool; 2],
}

impl Default for WorkerOptions {
    /// Stores of 256 KiB, spinning, signals that gather.
    fn default() -> Self {
        WorkerOptions { store_bytes: STORE_BYTES, polling: Polling::Spin, signals_or: [true; 2] }
    }
}
