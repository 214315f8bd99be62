//! Robust mutexes of a thread that ends (pthread_mutexattr_setrobust(3)).
//!
//! The kernel marks them when the thread has ended, so that the next thread learns of it. It does
//! not wait for a page then: a mutex on a page that is away or protected would never be marked, and
//! the next thread would wait for ever.

use super::fence;
use std::ptr::null_mut;

/// `struct robust_list_head` of `include/uapi/linux/futex.h`.
///
/// It holds the first entry, the way from an entry to its mutex in bytes, and the entry of a mutex
/// that is being locked or unlocked.
#[repr(C)]
struct Head {
    first: usize,
    offset: isize,
    pending: usize,
}

/// Entries that the kernel looks at (`ROBUST_LIST_LIMIT`).
const MOST: usize = 2048;

/// The lowest bit of an entry's address says that its mutex passes on priorities.
const INHERITS: usize = 1;

/// Has the pages of all robust mutexes of this thread stay where they are.
pub fn keep() {
    let mut head: *mut Head = null_mut();
    let mut bytes = 0_usize;
    // SAFETY: the kernel writes to two local variables.
    let status =
        unsafe { libc::syscall(libc::SYS_get_robust_list, 0, &raw mut head, &raw mut bytes) };
    if status != 0 || head.is_null() {
        return;
    }
    // SAFETY: the C library gave the kernel the address of this thread's head.
    let (first, offset, pending) = unsafe { ((*head).first, (*head).offset, (*head).pending) };
    keep_entry(pending, offset);
    let mut entry = first;
    for _ in 0..MOST {
        let address = entry & !INHERITS;
        if address == 0 || address == head as usize {
            return;
        }
        keep_entry(entry, offset);
        // SAFETY: an entry is in a mutex that this thread has locked, and begins with the address
        // of the next one.
        entry = unsafe { (address as *const usize).read_volatile() };
    }
}

fn keep_entry(entry: usize, offset: isize) {
    let address = entry & !INHERITS;
    if address != 0 {
        fence::keep(address);
        fence::keep(address.wrapping_add_signed(offset));
    }
}
