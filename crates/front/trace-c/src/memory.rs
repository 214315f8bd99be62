//! Tables in separate memory, provided page by page.

use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

/// A table of zeros, never unmapped once it has memory.
pub struct EntryTable<T> {
    start: AtomicPtr<T>,
    entries: usize,
}

impl<T: 'static> EntryTable<T> {
    /// # Safety
    ///
    /// Zeros are a valid `T`.
    pub const unsafe fn of(entries: usize) -> Self {
        EntryTable { start: AtomicPtr::new(null_mut()), entries }
    }

    /// Provides the memory; false if the kernel refuses.
    pub fn begin(&self) -> bool {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory;
        // advice about dumps does not change its content.
        unsafe {
            let address = libc::mmap(null_mut(), self.bytes(), protection, flags, -1, 0);
            if address == libc::MAP_FAILED {
                return false;
            }
            libc::madvise(address, self.bytes(), libc::MADV_DONTDUMP);
            self.start.store(address.cast(), Relaxed);
        }
        true
    }

    pub fn clear(&self) {
        // SAFETY: the table is a private anonymous mapping of this length, whose dropped pages
        // read as zeros.
        unsafe { libc::madvise(self.start().cast(), self.bytes(), libc::MADV_DONTNEED) };
    }

    /// NULL before it has memory.
    #[inline(always)]
    pub fn start(&self) -> *mut T {
        self.start.load(Relaxed)
    }

    pub fn at(&self, index: usize) -> Option<&'static T> {
        let table = self.start();
        // SAFETY: the memory has so many entries, is never unmapped, and zeros are valid.
        (!table.is_null() && index < self.entries).then(|| unsafe { &*table.add(index) })
    }

    pub fn all(&self) -> impl Iterator<Item = &'static T> {
        (0..self.entries).map_while(|index| self.at(index))
    }

    fn bytes(&self) -> usize {
        self.entries * size_of::<T>()
    }
}
