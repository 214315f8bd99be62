//! The operations of one task.

use crate::port::{Addr, Stamp};

/// The operations that one task of a workload can do on the machine under it.
///
/// Loads acquire, stores release, and read-modify-write operations do both: enough for every
/// structure built here, and free on x86-64. An address beyond the shared memory that the workload
/// asked for is a defect of the workload, and the implementation panics on it.
pub trait Port {
    /// Reads a word.
    fn load(&self, word: Addr) -> u64;

    /// Writes a word.
    fn store(&self, word: Addr, value: u64);

    /// Copies `words` words, one after the other, from consecutive words to consecutive words.
    #[inline]
    fn copy(&self, from: Addr, to: Addr, words: u32) {
        for word in 0..words {
            self.store(to.word(word), self.load(from.word(word)));
        }
    }

    /// Adds, and returns what was there before.
    fn fetch_add(&self, word: Addr, value: u64) -> u64;

    /// Writes `new` if the word holds `current`.
    ///
    /// # Errors
    /// The word holds another value, which is returned; nothing was written.
    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64>;

    /// Waits until the word holds something other than `value`, and returns it. On a real machine
    /// this spins with a pause between loads (Liu et al. 2015, algorithm 1); a simulator lets it
    /// cost nothing until the line changes.
    fn wait_while(&self, word: Addr, value: u64) -> u64;

    /// Reads the clock, and the PU that the task is on.
    fn stamp(&self) -> Stamp;

    /// Computes for `cycles` core cycles without touching shared memory.
    fn compute(&self, cycles: u64);

    /// Says that the task has computed for this many core cycles by its own instructions: a real
    /// machine has taken that time already, and a simulator lets it pass.
    fn computed(&self, _cycles: u64) {}

    /// Comes between two looks of a loop that polls several words: a processor's pause instruction,
    /// where there is one. [`Port::wait_while`] has its own.
    fn pause(&self) {}

    /// How often this task was taken off its PU against its will so far. Always 0 where nothing can
    /// interrupt it.
    fn interruptions(&self) -> u64 {
        0
    }
}
