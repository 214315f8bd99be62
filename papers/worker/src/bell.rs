//! How a reader that may sleep is woken.

use crate::Polling;
use crate::primitive::{Futex, Ordering, fence, pause};
use std::time::{Duration, Instant};

/// Number of looks between two readings of the clock and questions whether the other thread is
/// gone; both together take as long as about 20 looks.
const GLANCE: u32 = 128;

/// Wakes the one thread that may sleep for something that another has written.
///
/// Both sides store first and look second, with a fence between (Dekker 1965): either the reader
/// sees what was written, or the writer sees that it sleeps. Where no reader may sleep, the writer
/// need not ring, and pays nothing.
pub struct Bell {
    asleep: Futex,
}

impl Default for Bell {
    fn default() -> Self {
        Bell { asleep: Futex::new(0) }
    }
}

impl Bell {
    /// Waits until there is something, or until the thread that it would come from is gone: `None`
    /// then, unless that thread left something first. It asks `is_gone` every `GLANCE` looks, and
    /// each time that it was woken; a thread that goes rings.
    pub fn wait<T>(
        &self,
        polling: Polling,
        mut look: impl FnMut() -> Option<T>,
        is_gone: impl Fn() -> bool,
    ) -> Option<T> {
        let spin = match polling {
            Polling::Spin => Duration::MAX,
            Polling::Adaptive(spin) => spin,
            Polling::Sleep => return self.sleep(look, is_gone),
        };
        // Most waits are over before the first question, and need no clock.
        let mut began = None;
        loop {
            for _ in 0..GLANCE {
                if let Some(found) = look() {
                    return Some(found);
                }
                pause();
            }
            if is_gone() {
                return look();
            }
            if spin != Duration::MAX && began.get_or_insert_with(Instant::now).elapsed() >= spin {
                return self.sleep(look, is_gone);
            }
        }
    }

    fn sleep<T>(
        &self,
        mut look: impl FnMut() -> Option<T>,
        is_gone: impl Fn() -> bool,
    ) -> Option<T> {
        loop {
            self.asleep.word().store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if let Some(found) = look() {
                self.asleep.word().store(0, Ordering::Relaxed);
                return Some(found);
            }
            if is_gone() {
                self.asleep.word().store(0, Ordering::Relaxed);
                // It may have left something before it went.
                return look();
            }
            self.asleep.wait(1);
        }
    }

    /// Wakes the reader if it sleeps; to be called after something was written for it.
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.word().load(Ordering::Relaxed) == 1 {
            self.asleep.word().store(0, Ordering::Relaxed);
            self.asleep.wake();
        }
    }
}
