//! The cost of a fault to the thread that has it: measured once, when the program begins.

use super::handler::FAULT_NS;
use super::kernel::Faults;
use super::{PAGE, fence};
use crate::memory;
use crate::threads::cpu_ns;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Faults that are timed.
const PAGES: usize = 32;

/// Memory without pages; 0 for none.
static START: AtomicUsize = AtomicUsize::new(0);

/// Makes the memory, before the thread that samples begins.
pub fn prepare() {
    let start = memory::zeros(PAGES * PAGE) as usize;
    if start != 0 {
        fence::exclude(start, start + PAGES * PAGE);
        START.store(start, Release);
    }
}

/// Has the kernel tell of faults in it.
pub fn register(faults: &Faults) {
    let start = START.load(Acquire);
    if start != 0 && faults.register(start, PAGES * PAGE).is_err() {
        START.store(0, Release);
    }
}

/// Accesses the memory, and keeps the CPU time of one fault.
pub fn measure() {
    let start = START.load(Acquire);
    if start == 0 {
        return;
    }
    let before = cpu_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    for page in 0..PAGES {
        // SAFETY: the memory was mapped by `prepare`, and is this module's own.
        unsafe { ((start + page * PAGE) as *mut u8).write_volatile(1) };
    }
    let took = cpu_ns(libc::CLOCK_THREAD_CPUTIME_ID) - before;
    FAULT_NS.store(took as u64 / PAGES as u64, Relaxed);
}
