//! Threads that wait for something to change, first by looking, then asleep.

use crate::crowd;
use crate::stuck::{Noted, WaitReason, Waiter};
use seatmap_cell_sim::os::barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Empty polls in a row after which a thread lets others run.
const POLLS: u32 = 64;

/// How long a wait lasts before it asks whether there is another thread. Most waits end sooner.
const ALONE: Duration = Duration::from_millis(100);

/// A place to wait at. A thread that changes a thing which others wait for calls [`Notify::ring`]
/// after the change.
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
            // Without a deadline there is always a finding.
            if let Some(found) = self.wait_until(None, &mut look) {
                return found;
            }
        }
    }

    /// Waits until `look` finds something or the deadline has passed; `None` then.
    pub fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = self.look(crowd::looks(), &mut look) {
            return Some(found);
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        // Every thread that changes something sees the number from now on, or its change is seen by
        // the next look.
        barrier::heavy();
        let found = self.sleep(deadline, &mut look);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        found
    }

    /// Waits until `look` finds something; `None` where it never will: all threads of the process
    /// wait for another one.
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
                // A thread that has ended since may have left something.
                return look();
            }
        }
    }

    /// Looks once, and so many times again.
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

    /// Looks, and sleeps until the next ring, in turn. The look is made without the lock: it may
    /// ring itself.
    fn sleep<T>(
        &self,
        deadline: Option<Instant>,
        look: &mut impl FnMut() -> Option<T>,
    ) -> Option<T> {
        loop {
            // A ring after this line changes the number; one before it is seen by the look.
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

    /// Wakes all sleepers, so that they look again.
    #[inline]
    pub fn ring(&self) {
        // The change comes before the look at the sleepers, as their announcement before their
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

/// A count of empty polls in a row. A program that asks again and again, and gets nothing, lets
/// other threads run where CPUs are short: those may be the ones that it waits for.
#[derive(Debug, Default)]
pub struct Polls(AtomicU32);

impl Polls {
    /// Passes a count on that a program asked for.
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
    fn a_change_wakes_the_waiter() {
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
    fn a_look_may_ring() {
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
    fn a_wait_among_others_goes_on() {
        let looks = AtomicU32::new(0);
        let late = || (looks.fetch_add(1, Ordering::Relaxed) > 4).then_some(7);
        let wait = (Waiter::Thread, WaitReason::Events);
        assert_eq!(Notify::default().wait_for_others(wait, late), Some(7));
    }

    #[test]
    fn a_deadline_ends_the_wait() {
        assert_eq!(Notify::default().wait_until(Some(Instant::now()), || None::<u8>), None);
    }
}
