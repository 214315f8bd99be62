//! Signal registers, one line each.

use super::lane::pair;
use seatmap_data::port::{Addr, Port};
use std::cell::Cell;

/// Bits of a stamp for the sender; the rest is a count.
const SENDER_BITS: u32 = 10;

/// A task's signal register, on the reader's side.
///
/// If the register gathers bits, its reader clears it, and writers add bits by compare-exchange. If
/// it is overwritten, it has a stamp of sender and count next to the value: the reader remembers
/// the last stamp and clears nothing, which saves a transfer of the line. (A reader that misses
/// exactly 2^22 equal signals of one sender takes the last for the first.)
#[derive(Debug)]
pub struct SignalLine {
    word: Addr,
    gathers: bool,
    taken: Cell<u64>,
}

impl SignalLine {
    pub fn new(word: Addr, gathers: bool) -> Self {
        SignalLine { word, gathers, taken: Cell::new(0) }
    }

    #[inline]
    pub fn read<P: Port>(&self, port: &P) -> u32 {
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

/// Overwrites a register; `count` is how many this sender has sent.
#[inline]
pub fn overwrite<P: Port>(port: &P, word: Addr, sender: usize, count: u32, value: u32) {
    // Only the lowest 22 bits of the count remain.
    let stamp = count << SENDER_BITS | sender as u32 & ((1 << SENDER_BITS) - 1);
    port.store(word, pair(value, stamp));
}

pub fn gather<P: Port>(port: &P, word: Addr, bits: u32) {
    let mut found = port.load(word);
    while let Err(newer) = port.compare_exchange(word, found, found | u64::from(bits)) {
        found = newer;
    }
}
