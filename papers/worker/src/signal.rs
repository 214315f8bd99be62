//! Signal registers: 32 bits that keep the last value, or gather bits, until they are read.

use crate::Polling;
use crate::bell::Bell;
use crate::primitive::{AtomicU64, Ordering};

/// The bit of a written value that has not been read.
const PENDING: u64 = 1 << 32;

/// A register. Any thread may write it; the worker reads it.
#[repr(align(64))]
pub struct WorkerSignal {
    word: AtomicU64,
    bell: Bell,
    gathers: bool,
    polling: Polling,
}

impl WorkerSignal {
    /// An empty register that gathers bits (OR), or keeps the last value.
    pub fn new(gathers: bool, polling: Polling) -> Self {
        WorkerSignal { word: AtomicU64::new(0), bell: Bell::default(), gathers, polling }
    }

    /// Writes a value.
    pub fn write(&self, value: u32) {
        let value = PENDING | u64::from(value);
        if self.gathers {
            self.word.fetch_or(value, Ordering::AcqRel);
        } else {
            self.word.store(value, Ordering::Release);
        }
        if self.polling.may_sleep() {
            self.bell.ring();
        }
    }

    /// Reads and clears the register; waits for a value. `None` if the writers are gone, according
    /// to `is_gone`.
    pub fn read(&self, is_gone: impl Fn() -> bool) -> Option<u32> {
        self.bell.wait(self.polling, || self.try_read(), is_gone)
    }

    /// Wakes the reader to check whether the writers are gone.
    pub fn ring(&self) {
        self.bell.ring();
    }

    /// Reads and clears the register; `None` if it is empty.
    pub fn try_read(&self) -> Option<u32> {
        // A load comes first, because each swap would take the line from its writer.
        let is_pending = self.word.load(Ordering::Acquire) & PENDING != 0;
        is_pending.then(|| self.word.swap(0, Ordering::AcqRel) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_gather_or_keep_the_last() {
        for (gathers, read) in [(true, 0b101), (false, 0b100)] {
            let signal = WorkerSignal::new(gathers, Polling::Spin);
            assert_eq!(signal.try_read(), None);
            signal.write(0b001);
            signal.write(0b100);
            assert_eq!((signal.read(|| false), signal.try_read()), (Some(read), None));
            assert_eq!(signal.read(|| true), None);
        }
    }

    #[test]
    fn zero_is_a_valid_signal() {
        let signal = WorkerSignal::new(false, Polling::Spin);
        signal.write(0);
        assert_eq!(signal.try_read(), Some(0));
    }
}
