//! How many programs and threads there are, and so how long a waiter looks before it sleeps.

use crate::style::SpeStyle;
use seatmap_os::Tid;
use seatmap_os::task::ThreadStat;
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
    let looks = match (cpus, SpeStyle::current()) {
        (1, _) | (_, SpeStyle::Linux) => 1,
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

/// Whether all threads of this process wait: `programs` of the programs that run, `threads` of the
/// PPE for something that a context does, `peers` for another thread. The others serve a context,
/// or wait for the end of its program.
///
/// False where the kernel does not say, and while another thread than the calling one runs or waits
/// for a disk: it may have been woken just now.
#[must_use]
pub fn all_wait(programs: usize, threads: usize, peers: usize) -> bool {
    let running = RUNNING.load(Ordering::Acquire);
    // In Linux's style a program has a thread of its own, which serves no other.
    let own = if SpeStyle::current() == SpeStyle::Linux { running } else { 0 };
    let known = SERVING.load(Ordering::Acquire) + own + running + threads + peers;
    programs == running && thread_ids().is_ok_and(|all| all.len() == known && !is_busy(&all))
}

/// Whether another thread than the calling one runs, is ready to, or will be by itself.
fn is_busy(all: &[Tid]) -> bool {
    // SAFETY: asks for the number of the calling thread.
    let own = unsafe { libc::gettid() };
    let others = all.iter().filter(|thread| **thread != own);
    others.filter_map(|thread| ThreadStat::of(*thread)).any(|task| matches!(task.state, 'R' | 'D'))
}

/// The threads of this process.
fn thread_ids() -> std::io::Result<Vec<Tid>> {
    let entries = std::fs::read_dir("/proc/self/task")?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}
