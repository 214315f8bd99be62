//! Threads of the PPE on a simulated Cell: the functions for `threads.c`, which is linked into
//! every program.
//!
//! An unavailable machine counts as this computer here; creating a context reports the error.

use seatmap_spe::simulated::desk::DriverSlot;
use seatmap_spe::simulated::thread;
use seatmap_spe::stuck::{self, PeerWait};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

/// Whether the machine is a simulated Cell.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_is_simulated() -> c_int {
    thread::is_simulated().into()
}

/// Creates a slot for the next thread.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_thread_open() -> *mut c_void {
    thread::open().map_or(std::ptr::null_mut(), |desk| Arc::into_raw(desk).cast_mut().cast())
}

unsafe fn desk(pointer: *mut c_void) -> Option<Arc<DriverSlot>> {
    // SAFETY: the caller's promise: it is from `seatmap_spe_thread_open`, and is used once.
    (!pointer.is_null()).then(|| unsafe { Arc::from_raw(pointer.cast::<DriverSlot>()) })
}

/// Removes the slot of a thread that could not be created.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_spe_thread_close(pointer: *mut c_void) {
    // SAFETY: C's promise.
    if let Some(desk) = unsafe { desk(pointer) } {
        thread::close(desk);
    }
}

/// Records this slot's new thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_spe_thread_born(pointer: *mut c_void, thread: u64) {
    // SAFETY: C's promise: the slot of a thread that has not had its turn, and so has not taken it.
    if let Some(desk) = unsafe { pointer.cast::<DriverSlot>().as_ref() } {
        thread::born(desk, thread);
    }
}

/// Starts the calling thread at its slot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_spe_thread_begin(pointer: *mut c_void) {
    // SAFETY: C's promise.
    if let Some(desk) = unsafe { desk(pointer) } {
        thread::begin(desk);
    }
}

/// Ends the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_thread_end(thread: u64) {
    thread::end(thread);
}

/// Records a new thread, on this computer.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_created(thread: u64) {
    stuck::created(thread);
}

/// The calling thread starts to wait for another's end (on this computer).
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_begin_join(thread: u64) {
    stuck::begin_peer_wait(PeerWait::End(thread));
}

/// The calling thread starts to wait in a pthread function, by its number in `threads.c` (on this
/// computer).
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_begin_wait(function: c_int) {
    stuck::begin_peer_wait(match function {
        0 => PeerWait::Mutex,
        1 => PeerWait::Condition,
        2 => PeerWait::Barrier,
        3 => PeerWait::ReadWriteLock,
        _ => PeerWait::Semaphore,
    });
}

/// The calling thread no longer waits (on this computer).
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_end_wait() {
    stuck::end_peer_wait();
}

/// Whether a thread has not ended.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_thread_lives(thread: u64) -> c_int {
    thread::lives(thread).into()
}

/// Waits until another thread wakes this key's waiters, or until a time in nanoseconds, if not
/// negative; 0 if the time came first.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_park(key: *const c_void, until_ns: i64) -> c_int {
    thread::park(key as u64, u64::try_from(until_ns).ok()).into()
}

/// Wakes up to `most` waiters of a key.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_wake(key: *const c_void, most: c_uint) {
    thread::wake(key as u64, most);
}

/// Waits in virtual time.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_sleep(ns: i64) {
    thread::sleep(u64::try_from(ns).unwrap_or(0));
}

/// Nanoseconds since the machine's start.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_time() -> i64 {
    i64::try_from(thread::time_ns()).unwrap_or(i64::MAX)
}
