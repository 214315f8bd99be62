//! The operations of a task.

use crate::port::{Addr, Stamp};

/// The operations of a workload's task on its machine.
///
/// Loads acquire, stores release, and read-modify-write operations do both: enough for every
/// structure built here, and free on x86-64. An address beyond the workload's shared memory is a
/// defect of the workload; the implementation panics.
pub trait Port {
    /// Reads a word.
    fn load(&self, word: Addr) -> u64;

    /// Writes a word.
    fn store(&self, word: Addr, value: u64);

    /// Copies `words` consecutive words, one after the other.
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

    /// Waits until the word no longer holds `value`, and returns its new value. On a real machine
    /// this spins with a pause between loads (Liu et al. 2015, algorithm 1); in a simulator it
    /// costs nothing until the line changes.
    fn wait_while(&self, word: Addr, value: u64) -> u64;

    /// Reads the clock and the task's PU.
    fn stamp(&self) -> Stamp;

    /// Computes for `cycles` core cycles without touching shared memory.
    fn compute(&self, cycles: u64);

    /// Reports that the task has computed for this many core cycles: a real machine has already
    /// taken that time, and a simulator lets it pass.
    fn computed(&self, _cycles: u64) {}

    /// The processor's pause instruction, if it has one, for loops that poll several words.
    /// [`Port::wait_while`] has its own.
    fn pause(&self) {}

    /// This task's involuntary context switches so far; 0 if nothing can interrupt it.
    fn interruptions(&self) -> u64 {
        0
    }
}
