//! Local stores: the memory of one worker.

use std::io;
use std::ptr::NonNull;

/// The large page of x86-64 and of Arm with 4 KiB granules.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// Zeroed memory of one worker: on its own large page if available; locked if the limit allows.
pub struct WorkerStore {
    base: NonNull<u8>,
    bytes: usize,
    mapped_bytes: usize,
    is_large: bool,
    is_locked: bool,
}

// SAFETY: the mapping belongs to the store, and is only reached through it.
unsafe impl Send for WorkerStore {}

impl WorkerStore {
    /// Maps a store of `bytes` bytes. The kernel places its pages near the thread that touches them
    /// first, so scrub it there.
    ///
    /// # Errors
    /// The kernel's error, or `InvalidInput` for no bytes.
    pub fn new(bytes: usize) -> io::Result<Self> {
        if bytes == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a store of 0 bytes"));
        }
        let large_bytes = bytes.checked_next_multiple_of(LARGE_PAGE_BYTES);
        let large = large_bytes
            .and_then(|large_bytes| Some((map(large_bytes, libc::MAP_HUGETLB).ok()?, large_bytes)));
        let is_large = large.is_some();
        let (base, mapped_bytes) = match large {
            Some(large) => large,
            None => (map(bytes, 0)?, bytes),
        };
        // Locks pages on fault, because pages locked now would be placed near this thread and not
        // near the worker. SAFETY: exactly the mapping just made. If this fails, its pages may be
        // paged out.
        let is_locked =
            unsafe { libc::mlock2(base.as_ptr().cast(), mapped_bytes, libc::MLOCK_ONFAULT) } == 0;
        Ok(WorkerStore { base, bytes, mapped_bytes, is_large, is_locked })
    }

    /// Whether it uses large pages.
    pub fn is_large(&self) -> bool {
        self.is_large
    }

    /// Whether it is locked.
    pub fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// The store's address, for transfers by address.
    pub fn address(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Its bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `base` points to `bytes` initialised bytes, alive as long as `self`, which is
        // borrowed for the slice.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.bytes) }
    }

    /// Overwrites everything with zeros, so that the next owner finds nothing.
    pub fn scrub(&mut self) {
        self.bytes().fill(0);
        // The compiler must not drop the writes because no code reads them.
        std::hint::black_box(self.base.as_ptr());
    }
}

fn map(bytes: usize, more: libc::c_int) -> io::Result<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | more;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no memory that
    // is in use.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(at.cast()).ok_or_else(|| io::Error::other("the kernel mapped page zero"))
}

impl Drop for WorkerStore {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; no reference to it can outlive `self`. If this
        // fails, it stays mapped.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.mapped_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrub_clears_every_byte() {
        let mut store = WorkerStore::new(5000).unwrap();
        assert_eq!(store.bytes().len(), 5000);
        store.bytes().fill(0xa5);
        store.scrub();
        assert!(store.bytes().iter().all(|byte| *byte == 0));
    }

    /// Resident pages (mincore(2)).
    fn resident(store: &WorkerStore) -> usize {
        let mut pages = [0_u8; 16];
        // SAFETY: the mapping has this length, and its pages fit into the array.
        let status =
            unsafe { libc::mincore(store.base.as_ptr().cast(), store.bytes, pages.as_mut_ptr()) };
        assert_eq!(status, 0);
        pages.iter().filter(|page| **page & 1 == 1).count()
    }

    #[test]
    fn pages_are_allocated_on_first_touch() {
        let mut store = WorkerStore::new(8 * 4096).unwrap();
        assert_eq!(resident(&store), 0, "locked: {}, large: {}", store.is_locked, store.is_large);
        store.scrub();
        assert!(resident(&store) > 0);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(
            WorkerStore::new(0).is_err()
                && WorkerStore::new(1 << 60).is_err()
                && WorkerStore::new(usize::MAX).is_err()
        );
    }
}
