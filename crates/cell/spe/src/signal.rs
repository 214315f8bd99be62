//! A signal register: 32 bits that wait until the SPU reads them.

use std::sync::{Mutex, PoisonError};

/// A register that keeps the last value, or gathers the bits of all, until it is read; reading clears it.
#[derive(Debug)]
pub struct Signal {
    gathers: bool,
    value: Mutex<Option<u32>>,
}

impl Signal {
    /// An empty register.
    #[must_use]
    pub fn new(gathers: bool) -> Self {
        Signal { gathers, value: Mutex::new(None) }
    }

    /// Writes a value: over the last one, or by a logical OR.
    pub fn write(&self, value: u32) {
        let mut held = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(if self.gathers { held.unwrap_or(0) | value } else { value });
    }

    /// Whether a value waits.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The value that waits; 0 if none does.
    #[must_use]
    pub fn value(&self) -> u32 {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(0)
    }

    /// Takes the value.
    #[must_use]
    pub fn try_read(&self) -> Option<u32> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_replace_or_gather() {
        for (gathers, expected) in [(false, 4), (true, 5)] {
            let signal = Signal::new(gathers);
            signal.write(1);
            signal.write(4);
            assert_eq!((signal.try_read(), signal.try_read()), (Some(expected), None));
        }
    }
}
