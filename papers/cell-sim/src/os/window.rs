//! Memory at an address with many trailing zeros, mapped a second time at a low address.
//!
//! Programs address a Cell SPE's local store from zero, and keep such addresses in 32 bits. If a
//! store starts at a multiple of 4 GiB, the low 32 bits of every pointer into it are that address.
//! Programs for 32-bit PPEs also keep main-memory addresses in 32 bits, and use the store's second,
//! low mapping.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A window's alignment.
pub const ALIGNMENT_BYTES: usize = 1 << 32;
/// The first window to try, in units of the alignment: above programs linked to fixed addresses. A
/// build with `SEATMAP_LOW_WINDOWS` tries lower ones, because ThreadSanitizer's shadow memory is
/// higher.
const FIRST: usize = if option_env!("SEATMAP_LOW_WINDOWS").is_some() { 1 } else { 0x100 };
/// Windows to try; they cover 16 TiB.
const TRIES: usize = 4096;

/// Memory mapped twice: at a multiple of 4 GiB, and below 4 GiB if there is room.
#[derive(Debug)]
pub struct DoubleMapping {
    high: *mut u8,
    low: *mut u8,
    bytes: usize,
    executes: Mutex<(usize, usize)>,
}

// SAFETY: the mappings belong to the window alone; callers that use its addresses see to races.
unsafe impl Send for DoubleMapping {}
// SAFETY: as above: a shared window gives out addresses only.
unsafe impl Sync for DoubleMapping {}

impl DoubleMapping {
    /// Maps zeroed memory of `bytes` bytes.
    ///
    /// # Errors
    /// The kernel's error; `InvalidInput` for no bytes or 4 GiB and more.
    pub fn new(bytes: usize) -> io::Result<Self> {
        if bytes == 0 || bytes >= ALIGNMENT_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("a window cannot have the size {bytes}"),
            ));
        }
        let file = memory_file(bytes)?;
        let high = aligned(bytes, &file)?;
        // Programs that do not need the low mapping still work without it.
        let low = map(std::ptr::null_mut(), bytes, LOW, file.as_raw_fd()).unwrap_or(high);
        Ok(DoubleMapping { high, low, bytes, executes: Mutex::new((0, 0)) })
    }

    /// Its address at a multiple of 4 GiB.
    #[inline]
    pub fn high(&self) -> *mut u8 {
        self.high
    }

    /// Its address below 4 GiB, or the high one if there was no room.
    #[inline]
    pub fn low(&self) -> *mut u8 {
        self.low
    }

    /// Its length.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes the pages from `start` to `end` of the high mapping executable and read-only; makes
    /// all others writable again.
    ///
    /// # Errors
    /// The kernel's error; `InvalidInput` for pages outside.
    pub fn execute(&self, start: usize, end: usize) -> io::Result<()> {
        let page = page_bytes();
        let first = start / page * page;
        let last = end.next_multiple_of(page);
        if first > last || last > self.bytes.next_multiple_of(page) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("pages {start:#x} to {end:#x} are outside"),
            ));
        }
        let mut executes = self.executes.lock().unwrap_or_else(PoisonError::into_inner);
        if *executes != (first, last) {
            self.protect(0, self.bytes, libc::PROT_READ | libc::PROT_WRITE)?;
            *executes = (0, 0);
            self.protect(first, last - first, libc::PROT_READ | libc::PROT_EXEC)?;
            *executes = (first, last);
        }
        Ok(())
    }

    fn protect(&self, start: usize, bytes: usize, protection: libc::c_int) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller checks that the range lies in the mapping, which this window owns.
        let status = unsafe { libc::mprotect(self.high.add(start).cast(), bytes, protection) };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for DoubleMapping {
    fn drop(&mut self) {
        // SAFETY: exactly the mappings made in `new`. A failure leaves them mapped.
        unsafe { libc::munmap(self.high.cast(), self.bytes) };
        if self.low != self.high {
            // SAFETY: as above.
            unsafe { libc::munmap(self.low.cast(), self.bytes) };
        }
    }
}

/// Inaccessible addresses, as names for things other than memory.
#[derive(Debug)]
pub struct ReservedRange {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: nothing can be read or written through it.
unsafe impl Send for ReservedRange {}
// SAFETY: as above.
unsafe impl Sync for ReservedRange {}

impl ReservedRange {
    /// Reserves `bytes` addresses, below 4 GiB if there is room.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let mut starts = [LOW, 0].into_iter().map(|place| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | place;
            // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is
            // in use.
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) }
        });
        let start = starts.find(|start| *start != libc::MAP_FAILED);
        let start = start.ok_or_else(io::Error::last_os_error)?.cast();
        Ok(ReservedRange { start, bytes })
    }

    /// The first address.
    pub fn start(&self) -> *mut u8 {
        self.start
    }
}

impl Drop for ReservedRange {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

#[cfg(target_arch = "x86_64")]
const LOW: libc::c_int = libc::MAP_32BIT;
#[cfg(not(target_arch = "x86_64"))]
const LOW: libc::c_int = 0;

fn page_bytes() -> usize {
    // SAFETY: reads a constant of the system.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

fn memory_file(bytes: usize) -> io::Result<OwnedFd> {
    let name = CString::from(c"seatmap-local-store");
    // SAFETY: the name ends with a zero.
    let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it for us.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    let length = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
    // SAFETY: a file of our own.
    match unsafe { libc::ftruncate(file.as_raw_fd(), length) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

fn aligned(bytes: usize, file: &OwnedFd) -> io::Result<*mut u8> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    for _ in 0..TRIES {
        let number = FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % TRIES;
        let at = (number * ALIGNMENT_BYTES) as *mut u8;
        match map(at, bytes, libc::MAP_FIXED_NOREPLACE, file.as_raw_fd()) {
            // An old kernel treats the address as a hint.
            Ok(found) if found != at => {
                // SAFETY: the mapping that was just made.
                unsafe { libc::munmap(found.cast(), bytes) };
            }
            Ok(found) => return Ok(found),
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::OutOfMemory, "no free address at a multiple of 4 GiB"))
}

fn map(at: *mut u8, bytes: usize, more: libc::c_int, file: libc::c_int) -> io::Result<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: never over memory that is in use: the address is the kernel's choice, or is refused
    // if it is taken.
    let found =
        unsafe { libc::mmap(at.cast(), bytes, protection, libc::MAP_SHARED | more, file, 0) };
    if found == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(found.cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_addresses_map_the_same_memory() {
        let window = DoubleMapping::new(256 << 10).unwrap();
        assert_eq!(window.high() as usize % ALIGNMENT_BYTES, 0);
        // SAFETY: both addresses are mapped, and no other code knows them.
        unsafe {
            assert_eq!(window.low().add(5000).read(), 0);
            window.high().add(5000).write(7);
            assert_eq!(window.low().add(5000).read(), 7);
        }
        #[cfg(target_arch = "x86_64")]
        assert!((window.low() as usize) < ALIGNMENT_BYTES);
    }

    #[test]
    fn windows_are_disjoint_and_invalid_sizes_refused() {
        let a = DoubleMapping::new(4096).unwrap();
        let b = DoubleMapping::new(4096).unwrap();
        assert_ne!(a.high(), b.high());
        assert!(DoubleMapping::new(0).is_err() && DoubleMapping::new(ALIGNMENT_BYTES).is_err());
        assert!(a.execute(0, 4096).is_ok() && a.execute(0, 8192).is_err());
    }
}
