//! Calls of the program that must find its memory as it would be without sampling.
//!
//! `mremap` refuses memory that the kernel keeps in several parts, as it does where faults of a
//! part are told of. The library's `mremap` then has the memory left alone while it tries again.
//! `madvise` may say that a child of a fork is to find zeros: pages of such memory are never taken,
//! as the child would get their content.

use super::{PAGE, fence};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicU8, AtomicUsize};

const FREE: u8 = 0;
const CLAIMED: u8 = 1;
const ASKED: u8 = 2;
const GRANTED: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(FREE);
static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// The memory that a thread wants to be left alone, once.
pub fn requested() -> Option<(usize, usize)> {
    (STATE.load(Acquire) == ASKED).then(|| (START.load(Acquire), END.load(Acquire)))
}

/// Whether a thread changes its memory now, or is about to.
pub fn is_held() -> bool {
    matches!(STATE.load(Acquire), ASKED | GRANTED)
}

/// Every page of that memory is back, and the kernel tells of no faults there.
pub fn grant() {
    STATE.store(GRANTED, Release);
}

/// Runs a closure while this memory is left alone. No handler of a signal may leave it by a jump.
fn without_sampling<T>(start: usize, end: usize, work: impl FnOnce() -> T) -> T {
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call fills the set that the second one reads; that one fills the set of
    // before.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
    }
    while STATE.compare_exchange(FREE, CLAIMED, AcqRel, Acquire).is_err() {
        std::thread::yield_now();
    }
    START.store(start, Release);
    END.store(end, Release);
    STATE.store(ASKED, Release);
    while STATE.load(Acquire) == ASKED && super::is_active() {
        std::thread::yield_now();
    }
    let result = work();
    STATE.store(FREE, Release);
    // SAFETY: the set was filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut()) };
    result
}

fn moved(
    old: *mut c_void,
    old_bytes: usize,
    new_bytes: usize,
    flags: c_int,
    new: *mut c_void,
) -> *mut c_void {
    // SAFETY: the arguments are those of the program's call.
    unsafe { libc::syscall(libc::SYS_mremap, old, old_bytes, new_bytes, flags, new) as *mut c_void }
}

fn is_in_parts(result: *mut c_void) -> bool {
    // SAFETY: the place of the number of the last error is always there.
    result == libc::MAP_FAILED && unsafe { *libc::__errno_location() } == libc::EFAULT
}

/// Moves or resizes memory, as the C library's function does.
#[unsafe(no_mangle)]
unsafe extern "C" fn mremap(
    old: *mut c_void,
    old_bytes: usize,
    new_bytes: usize,
    flags: c_int,
    new: *mut c_void,
) -> *mut c_void {
    let result = moved(old, old_bytes, new_bytes, flags, new);
    if !is_in_parts(result) || !super::is_active() {
        return result;
    }
    let start = old as usize;
    let end = start.saturating_add(old_bytes).next_multiple_of(PAGE);
    without_sampling(start, end, || moved(old, old_bytes, new_bytes, flags, new))
}

/// Advises the kernel, as the C library's function does.
#[unsafe(no_mangle)]
unsafe extern "C" fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int {
    if advice == libc::MADV_WIPEONFORK && super::is_active() {
        fence::exclude(start as usize, (start as usize).saturating_add(bytes));
    }
    // SAFETY: the arguments are those of the program's call.
    let status = unsafe { libc::syscall(libc::SYS_madvise, start, bytes, advice) } as c_int;
    if advice == libc::MADV_WIPEONFORK && status == 0 && super::is_active() {
        put_back(start as usize, bytes);
    }
    status
}

/// Has the pages of this memory put back, which may not be taken any more. Memory that cannot be
/// read keeps the pages that are away, and gets them when it can.
fn put_back(start: usize, bytes: usize) {
    // SAFETY: the call has no preconditions, and names only memory of the program.
    unsafe { libc::syscall(libc::SYS_madvise, start, bytes, libc::MADV_POPULATE_READ) };
}
