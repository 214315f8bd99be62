//! The ring buffer with a performance event's records (perf_event_open(2)).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Positions of the kernel and of this process on the first page.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// Kind, flags and length.
const HEADER_BYTES: usize = 8;

#[derive(Debug)]
pub struct PerfRing {
    /// The event counts until closed.
    _event: OwnedFd,
    memory: NonNull<u8>,
    page_bytes: usize,
    ring_bytes: usize,
}

// SAFETY: this value owns the ring, and any thread may read it.
unsafe impl Send for PerfRing {}

impl PerfRing {
    /// Maps an event's ring: this size, a power of two, or one page if that is larger.
    pub fn new(fd: OwnedFd, least_bytes: usize) -> io::Result<Self> {
        let page_bytes = crate::numa_maps::page_bytes() as usize;
        let ring_bytes = whole_pages(least_bytes, page_bytes);
        let read_write = libc::PROT_READ | libc::PROT_WRITE;
        let shared = libc::MAP_SHARED;
        let bytes = page_bytes + ring_bytes;
        // SAFETY: the kernel chooses the place of the new mapping.
        let memory = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, read_write, shared, fd.as_raw_fd(), 0)
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(PerfRing { _event: fd, memory, page_bytes, ring_bytes })
    }

    /// Passes the kind and body of each new record, in order.
    pub fn take(&mut self, mut each: impl FnMut(u32, &[u8])) {
        // Acquire: the records before the head are complete.
        let head = self.place(HEAD).load(Ordering::Acquire);
        let mut tail = self.place(TAIL).load(Ordering::Relaxed);
        let mut record = Vec::new();
        while tail < head {
            let header = self
                .copy(tail, HEADER_BYTES, &mut record)
                .first_chunk::<8>()
                .copied()
                .unwrap_or_default();
            let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
            let bytes = usize::from(u16::from_ne_bytes([header[6], header[7]]));
            if bytes < HEADER_BYTES {
                break;
            }
            each(kind, &self.copy(tail, bytes, &mut record)[HEADER_BYTES..]);
            tail += bytes as u64;
        }
        // Release: the records are read before the kernel may overwrite them.
        self.place(TAIL).store(head, Ordering::Release);
    }

    fn place(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: these aligned words are on the first page, which is mapped as long as this value
        // exists.
        unsafe { &*self.memory.as_ptr().add(offset).cast::<AtomicU64>() }
    }

    /// Copies bytes of the ring from a position; they may wrap around.
    fn copy<'a>(&self, from: u64, bytes: usize, to: &'a mut Vec<u8>) -> &'a [u8] {
        let start = (from % self.ring_bytes as u64) as usize;
        let first = bytes.min(self.ring_bytes - start);
        to.resize(bytes, 0);
        // SAFETY: both parts are in the ring after the first page, and `to` has room for them. The
        // kernel does not write there until the tail has passed.
        unsafe {
            let ring = self.memory.as_ptr().add(self.page_bytes);
            std::ptr::copy_nonoverlapping(ring.add(start), to.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(ring, to.as_mut_ptr().add(first), bytes - first);
        }
        to
    }
}

/// At least a page (up to 64 KiB on arm64 and POWER).
fn whole_pages(ring_bytes: usize, page_bytes: usize) -> usize {
    ring_bytes.max(page_bytes)
}

impl Drop for PerfRing {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no reference remains.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.page_bytes + self.ring_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_has_at_least_one_page() {
        assert_eq!(whole_pages(4096, 4096), 4096);
        assert_eq!(whole_pages(4096, 65_536), 65_536);
        assert_eq!(whole_pages(4 << 20, 65_536), 4 << 20);
    }
}
