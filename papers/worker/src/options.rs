//! Sizes and policies of a runtime.

use std::time::Duration;

/// A local store's size, as on the Cell.
pub const STORE_BYTES: usize = 256 << 10;

/// How a reader waits for a writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polling {
    /// It spins: the fastest, but the core is never free.
    #[default]
    Spin,
    /// It spins for this time, then sleeps until woken, which costs the writer a system call and
    /// the reader tens of microseconds.
    Adaptive(Duration),
    /// It sleeps at once.
    Sleep,
}

impl Polling {
    /// Whether a writer must check for a sleeper.
    pub fn may_sleep(self) -> bool {
        self != Polling::Spin
    }
}

/// A runtime's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerOptions {
    /// Bytes of each worker's local store.
    pub store_bytes: usize,
    /// How workers wait, and how programs wait for workers.
    pub polling: Polling,
    /// Whether the signal registers gather bits (OR) instead of keeping the last value.
    pub signals_or: [bool; 2],
}

impl Default for WorkerOptions {
    /// The default: stores of 256 KiB, workers that spin, and signals that gather.
    fn default() -> Self {
        WorkerOptions { store_bytes: STORE_BYTES, polling: Polling::Spin, signals_or: [true; 2] }
    }
}
