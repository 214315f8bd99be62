//! Wakeups between a thread of the PPE and the driver.
//!
//! They alternate several hundred thousand times per second, so a waiter spins for about a
//! microsecond before it sleeps, and a ring is a system call only for a sleeper. More spinning is
//! worse on a busy computer: 2,000 looks halve the message rate of six threads on two CPUs.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const QUIET: u32 = 0;
const RUNG: u32 = 1;
const ASLEEP: u32 = 2;
/// The most looks before a waiter sleeps.
const MOST_LOOKS: u32 = 32;
const LEAST_LOOKS: u32 = 4;

/// A bell.
#[derive(Debug)]
pub struct TurnBell {
    state: AtomicU32,
    /// Only the waiter changes it.
    looks: AtomicU32,
}

impl Default for TurnBell {
    fn default() -> Self {
        TurnBell { state: AtomicU32::new(QUIET), looks: AtomicU32::new(MOST_LOOKS) }
    }
}

impl TurnBell {
    /// Rings. The waiter sees all earlier writes.
    #[inline]
    pub fn ring(&self) {
        if self.state.swap(RUNG, Ordering::AcqRel) == ASLEEP {
            futex(&self.state, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1, None);
        }
    }

    /// Waits for a new ring or until a deadline. Returns whether there was a ring.
    #[inline]
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        let looks = if has_company() { self.looks.load(Ordering::Relaxed) } else { 1 };
        for _ in 0..looks {
            if self.state.load(Ordering::Relaxed) == RUNG {
                self.looks.store((2 * looks).min(MOST_LOOKS), Ordering::Relaxed);
                return self.hear();
            }
            std::hint::spin_loop();
        }
        self.looks.store((looks / 2).max(LEAST_LOOKS), Ordering::Relaxed);
        self.sleep(deadline)
    }

    fn hear(&self) -> bool {
        self.state.swap(QUIET, Ordering::AcqRel) == RUNG
    }

    #[cold]
    fn sleep(&self, deadline: Option<Instant>) -> bool {
        loop {
            let now =
                self.state.compare_exchange(QUIET, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
            if now == Err(RUNG) {
                return self.hear();
            }
            let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return self.hear();
            }
            futex(&self.state, libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, ASLEEP, left);
        }
    }
}

fn has_company() -> bool {
    static CPUS: OnceLock<usize> = OnceLock::new();
    *CPUS.get_or_init(|| seatmap_os::affinity::current().map_or(1, |cpus| cpus.len())) > 1
}

/// An error of `futex(2)` ends the wait.
fn futex(word: &AtomicU32, what: libc::c_int, value: u32, timeout: Option<Duration>) {
    let time = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time exist until the call returns.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), what, value, time) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_rings_wake_once() {
        let bell = TurnBell::default();
        bell.ring();
        bell.ring();
        assert!(bell.wait(None));
        assert!(!bell.wait(Some(Instant::now())));
    }

    #[test]
    fn two_threads_alternate() {
        let bells = [TurnBell::default(), TurnBell::default()];
        let count = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    assert!(bells[0].wait(None));
                    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    bells[1].ring();
                }
            });
            for _ in 0..20_000 {
                bells[0].ring();
                assert!(bells[1].wait(None));
                count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
        });
        assert_eq!(count.into_inner(), 40_000);
    }

    #[test]
    fn ring_wakes_sleeping_thread() {
        let bell = TurnBell::default();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| bell.wait(None));
            std::thread::sleep(Duration::from_millis(20));
            bell.ring();
            assert!(waiter.join().unwrap());
        });
    }
}
