//! Threads that wait for each other, and end their waits if one of them is lost.
//!
//! A thread spins forever for a failed one, and nearly forever if both share a CPU, because the
//! kernel alternates them every few milliseconds: when a cpuset shrinks or a CPU goes offline, the
//! kernel moves the threads pinned there. So all threads of a run share a [`Partners`]. Each calls
//! [`PartnerThread::check`] about every thousand polls, at no measurable cost. The first lost
//! thread records why, and all other waits end with [`Gone`].
//!
//! ```
//! use seatmap_os::partners::Partners;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! let (partners, answered) = (Partners::default(), AtomicBool::new(false));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| partners.lose(seatmap_os::partners::Loss::Panicked { cpu: 7 }));
//!     while !answered.load(Ordering::Acquire) && partners.check().is_ok() {
//!         std::hint::spin_loop();
//!     }
//! });
//! assert_eq!(partners.loss().unwrap().to_string(), "the thread on CPU 7 panicked");
//! ```

use crate::holder::Holder;
use crate::{CpuSet, affinity};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

/// Polls between checks: about 30 us, many times a usual wait but far below scheduler time slices.
pub const LOOKS: u32 = 1024;

/// The threads of one run.
#[derive(Debug, Default)]
pub struct Partners {
    loss: OnceLock<Loss>,
}

/// Why a thread was lost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Loss {
    /// The kernel refused to pin it.
    #[error(
        "cannot pin a thread to CPU {cpu} ({why}): {}",
        .holder.or("a cpuset or a taskset excludes it, or it is offline")
    )]
    Unseated {
        /// CPU.
        cpu: u32,
        /// Kernel's error.
        why: String,
        /// Cell that owns the CPU, if any.
        holder: Holder,
    },
    /// It left its CPU, or may run on others too.
    #[error(
        "the thread on CPU {cpu} was moved or unbound during the run (it is on CPU {found} now), \
         so its figures are invalid: {}",
        .holder.or("a cpuset or a taskset was changed, or the CPU went offline")
    )]
    Moved {
        /// Its CPU.
        cpu: u32,
        /// Its actual CPU.
        found: u32,
        /// Cell that owns its CPU, if any.
        holder: Holder,
    },
    /// Its program panicked.
    #[error("the thread on CPU {cpu} panicked")]
    Panicked {
        /// Its CPU.
        cpu: u32,
    },
    /// It ended without an answer expected by another thread.
    #[error("the thread on CPU {cpu} exited without a result")]
    Ended {
        /// Its CPU.
        cpu: u32,
    },
}

/// A thread was lost, so a wait cannot succeed. Also the payload of panics that end other threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gone;

/// A pinned thread of a run.
#[derive(Clone, Copy, Debug)]
pub struct PartnerThread<'a> {
    rank: usize,
    cpu: u32,
    partners: &'a Partners,
}

impl Loss {
    /// The loss of a thread that may no longer use all these CPUs; names the first missing one.
    pub fn moved(cpus: &[u32]) -> Self {
        let mask = affinity::current().unwrap_or_default();
        let taken = cpus.iter().find(|cpu| !mask.contains(cpu)).or(cpus.first());
        Loss::off(taken.copied().unwrap_or_default(), affinity::current_cpu())
    }

    /// The loss of a thread that could not be pinned.
    pub fn unseated(cpu: u32, error: &std::io::Error) -> Self {
        let holder = Holder::of(&CpuSet::single(cpu));
        Loss::Unseated { cpu, why: error.to_string(), holder }
    }

    /// The loss of a thread found on another CPU.
    pub fn off(cpu: u32, found: u32) -> Self {
        let holder = Holder::that_drove_out(&CpuSet::single(cpu), &CpuSet::single(found));
        Loss::Moved { cpu, found, holder }
    }
}

impl Partners {
    /// Ends all waits. Only the first reason is kept.
    pub fn lose(&self, loss: Loss) {
        let _ = self.loss.set(loss);
    }

    /// The first loss.
    pub fn loss(&self) -> Option<&Loss> {
        self.loss.get()
    }

    /// Checks for a loss, on an unpinned thread.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn check(&self) -> Result<(), Gone> {
        if self.loss.get().is_some() { Err(Gone) } else { Ok(()) }
    }

    /// Pins the calling thread and runs its work. Returns `None` if any thread was lost: it was not
    /// pinned, its mask changed, or the work panicked.
    pub fn work<T>(
        &self,
        rank: usize,
        cpu: u32,
        work: impl FnOnce(&PartnerThread) -> T,
    ) -> Option<T> {
        if let Err(error) = sit_again(cpu) {
            self.lose(Loss::unseated(cpu, &error));
            return None;
        }
        let seat = PartnerThread { rank, cpu, partners: self };
        let done = catch_unwind(AssertUnwindSafe(|| work(&seat)));
        if let Err(payload) = &done
            && !is_gone(&**payload)
        {
            self.lose(Loss::Panicked { cpu });
        }
        seat.check_mask();
        done.ok().filter(|_| self.loss().is_none())
    }
}

/// Whether a panic ended a wait because another thread was lost.
pub fn is_gone(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Gone>()
}

/// A CPU that returns does not rejoin masks.
fn sit_again(cpu: u32) -> std::io::Result<()> {
    match affinity::current() {
        Ok(mask) if mask == [cpu] => Ok(()),
        _ => affinity::pin(&[cpu]),
    }
}

impl PartnerThread<'_> {
    /// This thread's number among its partners.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Its CPU.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Checks that this thread is on its CPU and none is lost.
    ///
    /// # Errors
    /// [`Gone`]. If this thread is elsewhere, it has recorded its own loss.
    #[cold]
    pub fn look(&self) -> Result<(), Gone> {
        let found = affinity::current_cpu();
        if found != self.cpu {
            self.partners.lose(Loss::off(self.cpu, found));
        }
        self.partners.check()
    }

    /// Like [`look`](Self::look), but unwinds with [`Gone`], which [`Partners::work`] catches.
    #[cold]
    pub fn check(&self) {
        if let Err(gone) = self.look() {
            resume_unwind(Box::new(gone));
        }
    }

    /// With another mask, the thread may have moved away and returned.
    fn check_mask(&self) {
        let mask = affinity::current().unwrap_or_default();
        if mask != [self.cpu] {
            let found = affinity::current_cpu();
            self.partners.lose(Loss::off(self.cpu, found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    fn own_cpu() -> u32 {
        affinity::current().unwrap()[0]
    }

    #[test]
    fn worker_runs_on_its_cpu() {
        let partners = Partners::default();
        let cpu = own_cpu();
        let mask = aside(|| {
            partners.work(3, cpu, |seat| (seat.rank(), seat.cpu(), affinity::current().unwrap()))
        });
        assert_eq!((mask, partners.loss()), (Some((3, cpu, vec![cpu])), None));
    }

    #[test]
    fn panic_ends_the_wait_of_others_and_is_reported() {
        let partners = Partners::default();
        let cpu = own_cpu();
        let never = AtomicBool::new(false);
        let waited = std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                partners.work(0, cpu, |seat| {
                    while !never.load(Ordering::Relaxed) {
                        seat.check();
                    }
                })
            });
            scope.spawn(|| partners.work(1, cpu, |_| resume_unwind(Box::new("on purpose"))));
            waiter.join().unwrap()
        });
        assert_eq!((waited, partners.loss()), (None, Some(&Loss::Panicked { cpu })));
    }

    #[test]
    fn unavailable_cpu_is_reported_as_loss() {
        let partners = Partners::default();
        assert_eq!(aside(|| partners.work(0, 500_000, |_| ())), None);
        let told = partners.loss().unwrap().to_string();
        assert!(told.starts_with("cannot pin a thread to CPU 500000 ("), "{told}");
    }

    #[test]
    fn rebound_thread_counts_as_moved() {
        let cpus = affinity::current().unwrap();
        let Some(other) = cpus.get(1) else {
            return seatmap_needs::skipped!("this needs two CPUs");
        };
        let partners = Partners::default();
        let seen = aside(|| {
            partners.work(0, cpus[0], |seat| {
                affinity::pin(&[*other]).unwrap();
                seat.look()
            })
        });
        assert_eq!(seen, None);
        assert_eq!(partners.loss(), Some(&Loss::off(cpus[0], *other)));
        let wide = Partners::default();
        aside(|| wide.work(0, cpus[0], |_| affinity::pin(&cpus).unwrap()));
        assert!(matches!(wide.loss(), Some(Loss::Moved { cpu, .. }) if *cpu == cpus[0]));
    }

    #[test]
    fn mask_changed_before_work_is_set_again() {
        let cpus = affinity::current().unwrap();
        let partners = Partners::default();
        let mask = aside(|| {
            affinity::pin(&cpus).unwrap();
            partners.work(0, cpus[0], |_| affinity::current().unwrap())
        });
        assert_eq!(mask, Some(vec![cpus[0]]));
    }
}
