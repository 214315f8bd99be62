//! The operations of a task.

use crate::port::{Addr, Stamp};

/// The operations of a workload's task on its machine.
///
/// Loads acquire, stores release, and read-modify-write operations do both: enough for every
/// structure built here, and free on x86-64. An address beyond the workload's requested shared
/// memory is a bug of the workload, and the implementation panics.
pub trait Port {
    /// Reads a word.
    fn load(&self, word: Addr) -> u64;

    /// Writes a word.
    fn store(&self, word: Addr, value: u64);

    /// Copies `words` consecutive words, one by one.
    #[inline]
    fn copy(&self, from: Addr, to: Addr, words: u32) {
        for word in 0..words {
            self.store(to.word(word), self.load(from.word(word)));
        }
    }

    /// Adds a value, and returns the old one.
    fn fetch_add(&self, word: Addr, value: u64) -> u64;

    /// Writes `new` if the word holds `current`.
    ///
    /// # Errors
    /// The word holds another value, which is returned; nothing is written.
    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64>;

    /// Waits until the word differs from `value`, and returns it. A real machine spins with a pause
    /// between loads (Liu et al. 2015, algorithm 1); in a simulator, waiting costs nothing until
    /// the line changes.
    fn wait_while(&self, word: Addr, value: u64) -> u64;

    /// Reads the clock and the task's PU.
    fn stamp(&self) -> Stamp;

    /// Computes for `cycles` core cycles without touching shared memory.
    fn compute(&self, cycles: u64);

    /// Accounts for core cycles that the task has computed with its own instructions: a real
    /// machine has already spent them, and a simulator advances its time.
    fn computed(&self, _cycles: u64) {}

    /// Pauses between two polls of several words, with the processor's pause instruction if there
    /// is one. [`Port::wait_while`] has its own pause.
    fn pause(&self) {}

    /// The task's involuntary context switches so far. Always 0 if nothing can interrupt it.
    fn interruptions(&self) -> u64 {
        0
    }
}
