//! A lock that is almost free for its usual thread, because it does not wait for earlier stores.
//!
//! The first thread owns it, and enters by a plain store and a load. Another thread revokes the
//! ownership for good; then all use an ordinary lock. In most programs one thread writes to the
//! contexts.

use seatmap_cell_sim::os::barrier;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

const OWNED: u8 = 0;
/// Another thread waits for the owner to leave.
const REVOKED: u8 = 1;
const SHARED: u8 = 2;

/// A lock for short work.
#[derive(Debug, Default)]
pub struct Biased {
    owner: AtomicUsize,
    is_inside: AtomicBool,
    state: AtomicU8,
    is_held: AtomicBool,
}

impl Biased {
    /// Runs `work` under the lock.
    #[inline]
    pub fn hold<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.enter_as_owner() {
            let done = work();
            self.is_inside.store(false, Ordering::Release);
            done
        } else {
            self.hold_shared(work)
        }
    }

    #[inline]
    fn enter_as_owner(&self) -> bool {
        if self.state.load(Ordering::Relaxed) != OWNED || !self.is_owner() {
            return false;
        }
        self.is_inside.store(true, Ordering::Relaxed);
        barrier::light();
        let is_ours = self.state.load(Ordering::Acquire) == OWNED;
        if !is_ours {
            self.is_inside.store(false, Ordering::Release);
        }
        is_ours
    }

    #[inline]
    fn is_owner(&self) -> bool {
        let me = thread();
        let owner = self.owner.load(Ordering::Relaxed);
        owner == me
            || (owner == 0
                && self.owner.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed).is_ok())
    }

    #[cold]
    fn hold_shared<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.state.compare_exchange(OWNED, REVOKED, Ordering::AcqRel, Ordering::Acquire).is_ok()
        {
            // After this barrier, the owner has seen the word, or is seen inside.
            barrier::heavy();
            wait_while(|| self.is_inside.load(Ordering::Acquire));
            self.state.store(SHARED, Ordering::Release);
        }
        wait_while(|| self.state.load(Ordering::Acquire) != SHARED);
        wait_while(|| self.is_held.swap(true, Ordering::Acquire));
        let done = work();
        self.is_held.store(false, Ordering::Release);
        done
    }
}

/// The work inside takes nanoseconds, but its thread may have lost its CPU.
fn wait_while(condition: impl Fn() -> bool) {
    let mut looks = 0_u32;
    while condition() {
        looks += 1;
        match looks % 128 {
            0 => std::thread::yield_now(),
            _ => std::hint::spin_loop(),
        }
    }
}

/// No other living thread has this address.
#[inline]
fn thread() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let own: usize;
        // SAFETY: the psABI keeps a thread's own address in the first word of its block, at `fs`.
        unsafe {
            std::arch::asm!(
                "mov {}, fs:0", out(reg) own, options(nostack, readonly, preserves_flags)
            )
        };
        own
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        thread_local! {
            static OWN: u8 = const { 0 };
        }
        OWN.with(|own| std::ptr::from_ref(own) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summed(threads: u64, each: u64) -> u64 {
        let lock = Biased::default();
        let low = std::sync::atomic::AtomicU64::new(0);
        let high = std::sync::atomic::AtomicU64::new(0);
        let add = || {
            for _ in 0..each {
                lock.hold(|| {
                    let value = low.load(Ordering::Relaxed);
                    low.store(value + 1, Ordering::Relaxed);
                    high.store(high.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                });
            }
        };
        add();
        std::thread::scope(|scope| (1..threads).for_each(|_| _ = scope.spawn(add)));
        assert_eq!(low.load(Ordering::Relaxed), high.load(Ordering::Relaxed));
        low.into_inner()
    }

    #[test]
    fn lock_serves_one_owner_or_several_threads() {
        assert_eq!(summed(1, 1000), 1000);
        assert_eq!(summed(4, 5000), 20000);
    }

    #[test]
    fn bias_is_revoked_from_running_owner() {
        for _ in 0..50 {
            let lock = &Biased::default();
            let count = &std::sync::atomic::AtomicU64::new(0);
            let add = move |times: u64| {
                (0..times).for_each(|_| {
                    lock.hold(|| count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed));
                });
            };
            std::thread::scope(|scope| {
                scope.spawn(move || add(3000));
                scope.spawn(move || add(300));
            });
            assert_eq!(count.load(Ordering::Relaxed), 3300);
        }
    }
}
