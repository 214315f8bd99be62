//! Shared lines in separate pages.

use seatmap_data::port::{Addr, LINE_BYTES};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// Zeroed memory in separate 4 KiB pages, seen as 64 lines of eight 64-bit words. The kernel places
/// pages at first touch, so mapping only reserves them.
pub struct Arena {
    base: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the memory belongs to the arena until it is dropped and is only ever reached as
// `AtomicU64`, from any thread.
unsafe impl Send for Arena {}
// SAFETY: as above; shared access is atomic access.
unsafe impl Sync for Arena {}

impl Arena {
    /// Maps this many lines, rounded up to whole pages.
    ///
    /// # Errors
    /// The kernel's error, or `InvalidInput` for 0 lines.
    pub fn new(lines: u32) -> io::Result<Self> {
        let bytes = lines as usize * LINE_BYTES;
        if bytes == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an arena without lines"));
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no memory of
        // ours.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(at.cast())
            .ok_or_else(|| io::Error::other("the kernel mapped page zero"))?;
        Ok(Arena { base, words: bytes / 8 })
    }

    /// The words, by [`Addr`].
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: `base` points to `words` zero-initialised words, aligned to a page, alive as long
        // as `self`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.words) }
    }

    /// The address after the last word.
    pub fn end(&self) -> Addr {
        Addr(self.words as u32)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; no reference to it can outlive `self`. A
        // failure leaves it mapped.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.words * 8) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn arena_is_zeroed_and_page_aligned() {
        let arena = Arena::new(100).unwrap();
        assert_eq!(arena.end(), Addr::line(100));
        assert_eq!(arena.words().as_ptr() as usize % 4096, 0);
        assert!(arena.words().iter().all(|word| word.load(Ordering::Relaxed) == 0));
        assert!(Arena::new(0).is_err());
    }
}
