//! A signal register: 32 bits that wait until the SPU reads them.

use std::sync::atomic::{AtomicU64, Ordering};

const WAITS: u64 = 1 << 32;

/// A register that keeps the last value, or gathers bits, until a read clears it.
#[derive(Debug)]
pub struct SpuSignal {
    gathers: bool,
    word: AtomicU64,
}

impl SpuSignal {
    /// An empty register.
    pub fn new(gathers: bool) -> Self {
        SpuSignal { gathers, word: AtomicU64::new(0) }
    }

    /// Writes a value: replaces the last, or adds its bits.
    pub fn write(&self, value: u32) {
        let new = WAITS | u64::from(value);
        if self.gathers {
            _ = self.word.fetch_or(new, Ordering::AcqRel)
        } else {
            self.word.store(new, Ordering::Release)
        }
    }

    /// Whether a value waits.
    pub fn waits(&self) -> bool {
        self.word.load(Ordering::Acquire) & WAITS != 0
    }

    /// The waiting value, or 0.
    pub fn value(&self) -> u32 {
        self.word.load(Ordering::Acquire) as u32
    }

    /// Takes the value.
    pub fn try_read(&self) -> Option<u32> {
        if !self.waits() {
            return None;
        }
        let word = self.word.swap(0, Ordering::AcqRel);
        (word & WAITS != 0).then_some(word as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_replace_or_gather() {
        for (gathers, expected) in [(false, 4), (true, 5)] {
            let signal = SpuSignal::new(gathers);
            signal.write(1);
            signal.write(4);
            assert_eq!(
                (signal.value(), signal.try_read(), signal.try_read()),
                (expected, Some(expected), None)
            );
            signal.write(0);
            assert_eq!((signal.waits(), signal.try_read()), (true, Some(0)));
        }
    }
}
