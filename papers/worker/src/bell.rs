//! Wakes a reader that may sleep.

use crate::Polling;
use crate::primitive::{Futex, Ordering, fence, pause};
use std::time::{Duration, Instant};

/// The looks between checks of the clock and of the other thread, which together take as long as
/// about 20 looks.
const GLANCE: u32 = 128;

/// Wakes the one thread that may sleep until another writes.
///
/// Both sides store first and look second, with a fence between (Dekker 1965): either the reader
/// sees the message, or the writer sees that it sleeps. For a reader that never sleeps, the writer
/// need not ring.
pub struct Bell {
    asleep: Futex,
}

impl Default for Bell {
    fn default() -> Self {
        Bell { asleep: Futex::new(0) }
    }
}

impl Bell {
    /// Waits until `look` finds something. Returns `None` if the writing thread has exited and left
    /// nothing. `is_gone` is called every `GLANCE` looks and after each wakeup; an exiting thread
    /// rings.
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
        // Most waits end before the first check and need no clock.
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
                // It may have left something before it exited.
                return look();
            }
            self.asleep.wait(1);
        }
    }

    /// Wakes the reader if it sleeps. Call it after writing.
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.word().load(Ordering::Relaxed) == 1 {
            self.asleep.word().store(0, Ordering::Relaxed);
            self.asleep.wake();
        }
    }
}
