//! How a reader that may sleep is woken.

use crate::Polling;
use crate::primitive::{Futex, Ordering, fence, pause};
use std::time::Instant;

/// Number of looks between two readings of the clock; one reading takes as long as about 20 looks.
const GLANCE: u32 = 128;

/// Wakes the one thread that may sleep for something that another has written.
///
/// Both sides store first and look second, with a fence between (Dekker 1965): either the reader sees what was
/// written, or the writer sees that it sleeps. Where no reader may sleep, the writer need not ring, and pays nothing.
pub struct Bell {
    asleep: Futex,
}

impl Default for Bell {
    fn default() -> Self {
        Bell { asleep: Futex::new(0) }
    }
}

impl Bell {
    /// Waits until there is something.
    pub fn wait<T>(&self, polling: Polling, mut look: impl FnMut() -> Option<T>) -> T {
        let found = match polling {
            Polling::Spin => loop {
                match look() {
                    Some(found) => break Some(found),
                    None => pause(),
                }
            },
            Polling::Adaptive(spin) => spin_for(spin, &mut look),
            Polling::Sleep => None,
        };
        found.unwrap_or_else(|| self.sleep(look))
    }

    fn sleep<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        loop {
            self.asleep.word().store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if let Some(found) = look() {
                self.asleep.word().store(0, Ordering::Relaxed);
                return found;
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

fn spin_for<T>(spin: std::time::Duration, look: &mut impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        for _ in 0..GLANCE {
            if let Some(found) = look() {
                return Some(found);
            }
            pause();
        }
        if began.elapsed() >= spin {
            return None;
        }
    }
}
