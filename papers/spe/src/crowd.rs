//! Counts programs and threads, and derives how long a waiter spins before it sleeps.

use crate::style::SpeStyle;
use seatmap_os::Tid;
use seatmap_os::task::ThreadStat;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The looks before a waiter sleeps: about 10 µs, many times the transfer of a line between cores.
pub const LOOKS: u32 = 2000;
/// The looks if threads outnumber CPUs, because the other side may need this CPU.
const LOOKS_SHARED: u32 = 50;

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static LOOKS_NOW: AtomicU32 = AtomicU32::new(1);

/// Further looks before a waiter sleeps.
#[inline]
pub fn looks() -> u32 {
    LOOKS_NOW.load(Ordering::Relaxed)
}

/// Whether threads outnumber their CPUs.
#[inline]
pub fn is_crowded() -> bool {
    looks() < LOOKS
}

/// Counts a program that starts or ends, and sets the looks. On one CPU the other side cannot act
/// during a look, and in Linux's style waiters sleep at once.
pub(crate) fn count_running(cpus: usize, change: impl FnOnce(&AtomicUsize) -> usize) {
    let running = change(&RUNNING);
    let looks = match (cpus, SpeStyle::current()) {
        (1, _) | (_, SpeStyle::Linux) => 1,
        // The programs also need a CPU for the thread with which they communicate.
        _ if running + 1 > cpus => LOOKS_SHARED,
        _ => LOOKS,
    };
    if looks != LOOKS_NOW.load(Ordering::Relaxed) {
        LOOKS_NOW.store(looks, Ordering::Relaxed);
    }
}

/// Threads of the pool that wait for contexts.
pub(crate) static SERVING: AtomicUsize = AtomicUsize::new(0);

/// Whether all threads of this process wait: `programs` of the running programs, `threads` of the
/// PPE for a context, `peers` for another thread. The others serve a context, or wait for the end
/// of its program.
///
/// False if the kernel does not report it, or while any other thread runs or waits for a disk,
/// because it may just have been woken.
pub fn all_wait(programs: usize, threads: usize, peers: usize) -> bool {
    let running = RUNNING.load(Ordering::Acquire);
    let own = if SpeStyle::current() == SpeStyle::Linux { running } else { 0 };
    let known = SERVING.load(Ordering::Acquire) + own + running + threads + peers;
    programs == running && thread_ids().is_ok_and(|all| all.len() == known && !is_busy(&all))
}

/// Whether any other thread runs, is ready, or will be without help.
fn is_busy(all: &[Tid]) -> bool {
    // SAFETY: returns the ID of the calling thread.
    let own = unsafe { libc::gettid() };
    let others = all.iter().filter(|thread| **thread != own);
    others.filter_map(|thread| ThreadStat::of(*thread)).any(|task| matches!(task.state, 'R' | 'D'))
}

fn thread_ids() -> std::io::Result<Vec<Tid>> {
    let entries = std::fs::read_dir("/proc/self/task")?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}
