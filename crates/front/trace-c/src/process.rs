//! The start, the forks, the signals and the end of the process.

use crate::hot::LINES;
use crate::shadow::SHADOW;
use crate::tasks::TASKS;
use crate::{dump, hot, output, tasks, threads};
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8};

const UNKNOWN: u8 = 0;
const BEGINNING: u8 = 1;
const ACTIVE: u8 = 2;
const OFF: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static DUMPED: AtomicBool = AtomicBool::new(false);
static BEGAN_NS: AtomicI64 = AtomicI64::new(0);

/// Signals that end a program unless it handles them; the file is written before they do.
const SIGNALS: [c_int; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

pub fn is_active() -> bool {
    STATE.load(Acquire) == ACTIVE
}

pub fn began_ns() -> i64 {
    BEGAN_NS.load(Relaxed)
}

/// Starts to count, once, if `SEATMAP_TRACE` is set.
pub fn begin() {
    if STATE.compare_exchange(UNKNOWN, BEGINNING, AcqRel, Acquire).is_err() {
        return;
    }
    let is_ready = output::folder().is_some() && SHADOW.begin() && TASKS.begin() && LINES.begin();
    BEGAN_NS.store(threads::cpu_ns(libc::CLOCK_MONOTONIC), Relaxed);
    STATE.store(if is_ready { ACTIVE } else { OFF }, Release);
    if is_ready {
        threads::begin();
        watch();
    }
}

fn watch() {
    // SAFETY: both functions live as long as the process.
    unsafe {
        libc::pthread_atfork(None, None, Some(forked));
        libc::atexit(finish);
    }
    SIGNALS.iter().for_each(|signal| catch(*signal));
}

/// Writes the file before a signal ends the process, unless the program handles the signal.
fn catch(signal: c_int) {
    // SAFETY: the structures are local and valid as zeros; the handler uses only what a handler
    // may.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, null_mut(), &raw mut before);
        if before.sa_sigaction != libc::SIG_DFL {
            return;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(c_int) = ended;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
        libc::sigaction(signal, &raw const action, null_mut());
    }
}

extern "C" fn ended(signal: c_int) {
    finish();
    // SAFETY: the handler was reset, so that the signal does now as it would have done.
    unsafe { libc::raise(signal) };
}

/// The child of a fork restarts, with one thread and its own file.
extern "C" fn forked() {
    SHADOW.clear();
    hot::clear();
    tasks::clear();
    DUMPED.store(false, Relaxed);
    BEGAN_NS.store(threads::cpu_ns(libc::CLOCK_MONOTONIC), Relaxed);
    threads::leave();
    threads::adopt();
}

extern "C" fn finish() {
    if !DUMPED.swap(true, Relaxed) {
        dump::write();
    }
}
