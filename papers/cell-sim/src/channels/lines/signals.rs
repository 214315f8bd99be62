//! Signal registers, a line each.

use super::lane::pair;
use seatmap_data::port::{Addr, Port};
use std::cell::Cell;

/// Bits of a stamp that hold the sender; the rest counts.
const SENDER_BITS: u32 = 10;

/// One register of the task that reads it.
///
/// A register that gathers bits is cleared by its reader and grown by compare-exchange. One that is
/// overwritten carries a stamp beside its value, sender and count: the reader remembers what it
/// took last and clears nothing, which saves a line's way back. (A reader that sleeps through
/// exactly 2^22 signals of one sender, all of the same value, takes the last for the first.)
#[derive(Debug)]
pub(super) struct SignalLine {
    word: Addr,
    gathers: bool,
    taken: Cell<u64>,
}

impl SignalLine {
    pub(super) fn new(word: Addr, gathers: bool) -> Self {
        SignalLine { word, gathers, taken: Cell::new(0) }
    }

    /// Waits until it holds a bit, and takes all.
    #[inline]
    pub(super) fn read<P: Port>(&self, port: &P) -> u32 {
        let mut found = port.load(self.word);
        loop {
            while found as u32 == 0 || found == self.taken.get() {
                found = port.wait_while(self.word, found);
            }
            match self.take(port, found) {
                Ok(()) => return found as u32,
                Err(newer) => found = newer,
            }
        }
    }

    #[inline]
    fn take<P: Port>(&self, port: &P, found: u64) -> Result<(), u64> {
        if self.gathers {
            port.compare_exchange(self.word, found, 0).map(|_| ())
        } else {
            self.taken.set(found);
            Ok(())
        }
    }
}

/// Writes over a register; `count` is how many signals this sender has sent.
#[inline]
pub(super) fn overwrite<P: Port>(port: &P, word: Addr, sender: usize, count: u32, value: u32) {
    // The count keeps its lowest 22 bits.
    let stamp = count << SENDER_BITS | sender as u32 & ((1 << SENDER_BITS) - 1);
    port.store(word, pair(value, stamp));
}

/// Adds bits to a register.
pub(super) fn gather<P: Port>(port: &P, word: Addr, bits: u32) {
    let mut found = port.load(word);
    while let Err(newer) = port.compare_exchange(word, found, found | u64::from(bits)) {
        found = newer;
    }
}
