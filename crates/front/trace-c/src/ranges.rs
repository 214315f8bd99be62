//! The functions that compilers call at accesses to ranges of memory.

use crate::shadow::access;
use std::ffi::{c_int, c_void};

/// The most lines of one range (4 MiB); the rest of a longer range is ignored.
const MOST_LINES: usize = 1 << 16;

fn range(address: usize, bytes: usize, is_write: bool) {
    let end = address.saturating_add(bytes);
    let mut at = address;
    for _ in 0..MOST_LINES {
        if at >= end {
            return;
        }
        let next = ((at | 63) + 1).min(end);
        access(at, (next - at) as u32, is_write);
        at = next;
    }
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_read_range(address: *const c_void, bytes: usize) {
    range(address as usize, bytes, false);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_write_range(address: *const c_void, bytes: usize) {
    range(address as usize, bytes, true);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_memcpy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> *mut c_void {
    range(from as usize, bytes, false);
    range(to as usize, bytes, true);
    // SAFETY: the compiler replaced a call of memcpy with the same arguments.
    unsafe { libc::memcpy(to, from, bytes) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_memmove(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> *mut c_void {
    range(from as usize, bytes, false);
    range(to as usize, bytes, true);
    // SAFETY: the compiler replaced a call of memmove with the same arguments.
    unsafe { libc::memmove(to, from, bytes) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_memset(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void {
    range(to as usize, bytes, true);
    // SAFETY: the compiler replaced a call of memset with the same arguments.
    unsafe { libc::memset(to, byte, bytes) }
}
