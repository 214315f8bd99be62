//! How many programs and threads there are, and so how long a waiter looks before it sleeps.

use crate::style::Style;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// How often a waiter looks before it sleeps: about ten microseconds, many times the transfer of a
/// line between cores.
pub const LOOKS: u32 = 2000;
/// Looks where more threads want to run than there are CPUs: the other side may need this one.
const LOOKS_SHARED: u32 = 50;

/// Programs that run now.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// How often a waiter looks now.
static LOOKS_NOW: AtomicU32 = AtomicU32::new(1);

/// How often a waiter looks again before it sleeps.
#[inline]
#[must_use]
pub fn looks() -> u32 {
    LOOKS_NOW.load(Ordering::Relaxed)
}

/// Whether more threads want to run than there are CPUs for them.
#[inline]
#[must_use]
pub fn is_crowded() -> bool {
    looks() < LOOKS
}

/// Counts a program that begins to run or has ended, and sets how long waiters look: with one CPU
/// the other side cannot act while this one looks, and Linux's waiters sleep at once. `cpus` is how
/// many CPUs the programs and the thread that first asked may run on together.
pub(crate) fn count_running(cpus: usize, change: impl FnOnce(&AtomicUsize) -> usize) {
    let running = change(&RUNNING);
    let looks = match (cpus, Style::current()) {
        (1, _) | (_, Style::Linux) => 1,
        // The programs, and the thread that they talk to.
        _ if running + 1 > cpus => LOOKS_SHARED,
        _ => LOOKS,
    };
    if looks != LOOKS_NOW.load(Ordering::Relaxed) {
        LOOKS_NOW.store(looks, Ordering::Relaxed);
    }
}

/// Threads that wait for contexts to run.
pub(crate) static SERVING: AtomicUsize = AtomicUsize::new(0);

/// Whether the calling thread is the only one of this process, but for those that serve it: nobody
/// else can run a context, send to one or receive from one. False where the kernel does not say.
#[must_use]
pub fn is_alone() -> bool {
    threads().is_ok_and(|threads| threads == SERVING.load(Ordering::Acquire) + 1)
}

/// Whether the one program that runs is alone: the only other thread of this process waits for its
/// end, and no thread can send to it or receive from it. False where the kernel does not say.
#[must_use]
pub fn is_program_alone() -> bool {
    // In Linux's style the program has a thread of its own, which serves no other.
    let own = usize::from(Style::current() == Style::Linux);
    let others = SERVING.load(Ordering::Acquire) + own;
    RUNNING.load(Ordering::Acquire) == 1 && threads().is_ok_and(|threads| threads == others + 1)
}

/// How many threads this process has.
fn threads() -> std::io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}
