//! Waits for changes: first spins, then sleeps.

use crate::crowd;
use crate::stuck::{Noted, WaitReason, Waiter};
use seatmap_cell_sim::os::barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

const POLLS: u32 = 64;

/// How long a wait lasts before it checks for other threads. Most waits are shorter.
const ALONE: Duration = Duration::from_millis(100);

/// A condition to wait for. A thread that changes something calls [`Notify::ring`] afterwards.
#[derive(Debug, Default)]
pub struct Notify {
    sleepers: AtomicU32,
    rings: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Notify {
    /// Waits until `look` finds something.
    pub fn wait<T>(&self, look: impl FnMut() -> Option<T>) -> T {
        let mut look = look;
        loop {
            if let Some(found) = self.wait_until(None, &mut look) {
                return found;
            }
        }
    }

    /// Waits until `look` finds something; `None` after the deadline.
    pub fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = self.look(crowd::looks(), &mut look) {
            return Some(found);
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        // Now each changing thread sees the number, or the next look sees its change.
        barrier::heavy();
        let found = self.sleep(deadline, &mut look);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        found
    }

    /// Waits until `look` finds something; `None` if all threads of the process wait.
    pub fn wait_for_others<T>(
        &self,
        (waiter, wait): (Waiter, WaitReason),
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = self.look(crowd::looks(), &mut look) {
            return Some(found);
        }
        if let Some(found) = self.wait_until(Instant::now().checked_add(ALONE), &mut look) {
            return Some(found);
        }
        let noted = Noted::new(waiter, wait);
        loop {
            if let Some(found) = self.wait_until(Instant::now().checked_add(ALONE), &mut look) {
                return Some(found);
            }
            if noted.is_hopeless() {
                // An ended thread may have left something.
                return look();
            }
        }
    }

    /// Looks once, and `again` times more.
    #[inline]
    pub fn look<T>(&self, again: u32, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        for _ in 0..again {
            if let Some(found) = look() {
                return Some(found);
            }
            std::hint::spin_loop();
        }
        look()
    }

    /// Alternates between a look and sleep until the next ring. The look may ring, so it is without
    /// the lock.
    fn sleep<T>(
        &self,
        deadline: Option<Instant>,
        look: &mut impl FnMut() -> Option<T>,
    ) -> Option<T> {
        loop {
            // A later ring changes the number; the look sees an earlier one's change.
            let seen = self.rings.load(Ordering::SeqCst);
            if let Some(found) = look() {
                return Some(found);
            }
            let left = deadline.map_or(Duration::from_secs(3600), |end| {
                end.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return None;
            }
            let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            drop(
                self.changed
                    .wait_timeout_while(held, left, |()| self.rings.load(Ordering::SeqCst) == seen),
            );
        }
    }

    /// Wakes all sleepers to look again.
    #[inline]
    pub fn ring(&self) {
        // The change comes before this check for sleepers, and their announcement before their
        // look.
        barrier::light();
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.rings.fetch_add(1, Ordering::SeqCst);
        drop(held);
        self.changed.notify_all();
    }
}

/// Counts consecutive empty polls. A polling program yields if CPUs are scarce, because it may wait
/// for the other threads.
#[derive(Debug, Default)]
pub struct Polls(AtomicU32);

impl Polls {
    /// Passes on a count for a program.
    #[inline]
    pub fn polled<T: Default + PartialEq>(&self, count: T) -> T {
        // Threads that poll the same thing may lose each other's counts.
        let misses =
            if count == T::default() { self.0.load(Ordering::Relaxed).wrapping_add(1) } else { 0 };
        self.0.store(misses, Ordering::Relaxed);
        if misses % POLLS == POLLS - 1 && crowd::is_crowded() {
            std::thread::yield_now();
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn change_wakes_the_waiter() {
        let notify = Notify::default();
        let set = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| notify.wait(|| set.load(Ordering::Acquire).then_some(7)));
            set.store(true, Ordering::Release);
            notify.ring();
            assert_eq!(waiter.join().unwrap(), 7);
        });
    }

    #[test]
    fn waiter_condition_may_ring() {
        let notify = Notify::default();
        let looks = AtomicU32::new(0);
        let enough = crowd::LOOKS + 2;
        let look = || {
            notify.ring();
            (looks.fetch_add(1, Ordering::Relaxed) > enough).then_some(())
        };
        notify.wait(look);
        assert!(looks.into_inner() > enough);
    }

    #[test]
    fn wait_among_others_completes() {
        let looks = AtomicU32::new(0);
        let late = || (looks.fetch_add(1, Ordering::Relaxed) > 4).then_some(7);
        let wait = (Waiter::Thread, WaitReason::Events);
        assert_eq!(Notify::default().wait_for_others(wait, late), Some(7));
    }

    #[test]
    fn deadline_ends_the_wait() {
        assert_eq!(Notify::default().wait_until(Some(Instant::now()), || None::<u8>), None);
    }
}
