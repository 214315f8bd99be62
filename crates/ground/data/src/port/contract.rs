//! The operations of one task.

use crate::port::{Addr, Stamp};

/// A change to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueChange {
    /// This is added to it.
    Add(u32),
    /// The number becomes this one.
    Set(u32),
}

impl ValueChange {
    /// The number after this change.
    #[must_use]
    pub fn of(self, found: u32) -> u32 {
        match self {
            ValueChange::Add(value) => found.wrapping_add(value),
            ValueChange::Set(value) => value,
        }
    }
}

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

    /// Changes the lower or the upper 32 bits of a word in one piece, and returns what they held
    /// before.
    fn change_half(&self, word: Addr, is_upper: bool, change: ValueChange) -> u32 {
        let shift = 32 * u32::from(is_upper);
        let before = change_word(self, word, |found| {
            let half = u64::from(change.of((found >> shift) as u32));
            found & !(u64::from(u32::MAX) << shift) | half << shift
        });
        (before >> shift) as u32
    }

    /// Does the same `times` times, in the tightest loop that the machine has. Returns false, and
    /// does nothing, where the machine has no tighter loop than calls of [`Port::change_half`].
    fn change_half_times(
        &self,
        _word: Addr,
        _is_upper: bool,
        _change: ValueChange,
        _times: u64,
    ) -> bool {
        false
    }

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

    /// Waits until this many tasks have called it, and lets them all go at one value of the clock.
    /// A simulator does nothing here: in a model no task is late by chance.
    fn begin_together(&self, _tasks: usize) {}

    /// Repeats an operation until this many tasks have called it, so that tasks whose operations
    /// are still counted keep their company. Returns when it stopped; `None` where nothing is
    /// repeated, as in a simulator.
    fn keep_on(&self, _tasks: usize, _operation: &mut dyn FnMut()) -> Option<u64> {
        None
    }
}

/// Changes a word in one piece, and returns what was there before.
pub(crate) fn change_word<P: Port + ?Sized>(port: &P, word: Addr, new: impl Fn(u64) -> u64) -> u64 {
    let mut found = port.load(word);
    loop {
        match port.compare_exchange(word, found, new(found)) {
            Ok(before) => return before,
            Err(newer) => found = newer,
        }
    }
}
