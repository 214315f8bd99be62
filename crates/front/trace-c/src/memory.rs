//! Tables in separate memory, provided page by page.

use std::ptr::null_mut;

/// A table of zeros; NULL if the kernel refuses.
pub fn zeros(bytes: usize) -> *mut u8 {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
    let address = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
    if address == libc::MAP_FAILED {
        return null_mut();
    }
    // SAFETY: the mapping was made above; advice about dumps does not change its content.
    unsafe { libc::madvise(address, bytes, libc::MADV_DONTDUMP) };
    address.cast()
}

pub fn clear(table: *mut u8, bytes: usize) {
    // SAFETY: the table is a private anonymous mapping of this length, whose dropped pages read as
    // zeros.
    unsafe { libc::madvise(table.cast(), bytes, libc::MADV_DONTNEED) };
}
