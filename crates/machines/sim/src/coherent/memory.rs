//! The contents of memory.

use crate::moment::at_tick;
use seatmap_data::invariant::broken;
use seatmap_data::port::{Addr, WORDS_PER_LINE};

/// The protocol lets one cache at a time write a line, after invalidating every other copy. All
/// copies are therefore equal, and one store of values serves them. Cores and message buffers check
/// their right first.
#[derive(Default)]
pub struct SharedMemory {
    words: Vec<u64>,
}

impl SharedMemory {
    /// Grows to this many lines; existing lines keep their values.
    pub fn grow(&mut self, lines: u32) {
        let words = lines as usize * WORDS_PER_LINE as usize;
        // Never smaller: a run may keep the contents of the one before.
        self.words.resize(self.words.len().max(words), 0);
    }

    pub fn clear(&mut self) {
        self.words.clear();
    }

    #[inline]
    pub fn read(&self, Addr(word): Addr) -> u64 {
        *self.words.get(word as usize).unwrap_or_else(|| missing(word))
    }

    #[inline]
    pub fn write(&mut self, Addr(word): Addr, value: u64) {
        *self.words.get_mut(word as usize).unwrap_or_else(|| missing(word)) = value;
    }
}

#[cold]
fn missing(word: u32) -> ! {
    broken(at_tick("memory", 0), format_args!("word {word}: there is no such word"))
}
