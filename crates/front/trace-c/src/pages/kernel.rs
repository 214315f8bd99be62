//! userfaultfd(2): pages that are missing or protected, and the threads that access them.
//!
//! The numbers and structures are those of `include/uapi/linux/userfaultfd.h`.

use super::PAGE;
use super::events::{Event, MESSAGE_BYTES};
use std::ffi::{c_int, c_ulong};
use std::io::Error;

const API: u64 = 0xaa;

const THREAD_ID: u64 = 1 << 8;
const EVENTS: u64 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 6;
const PROTECTION: u64 = 1 << 0;
const EXACT_ADDRESS: u64 = 1 << 11;
const MOVE: u64 = 1 << 16;
const FEATURES: u64 = THREAD_ID | EVENTS | PROTECTION | EXACT_ADDRESS | MOVE;

/// Faults on pages that are missing, and on writes to those that are protected.
const MODES: u64 = 1 | 2;

/// Messages that are read at once.
pub const MESSAGES: usize = 32;

/// `_IOWR(0xAA, number, bytes)`; the numbers 1 and 2 only read.
const fn request(number: u64, bytes: usize) -> c_ulong {
    let direction: u64 = if number == 1 || number == 2 { 2 } else { 3 };
    (direction << 30 | (bytes as u64) << 16 | API << 8 | number) as c_ulong
}

/// The faults of this process, until this is dropped. The kernel lets waiting threads go on then.
pub struct Faults {
    fd: c_int,
}

impl Faults {
    /// Asks for the faults of this process; the kernel's error where it refuses.
    pub fn open() -> Result<Self, c_int> {
        // SAFETY: the call has no preconditions.
        let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | libc::O_NONBLOCK) }
            as c_int;
        if fd < 0 {
            return Err(errno());
        }
        let faults = Faults { fd };
        faults.ask(0x3f, &mut [API, FEATURES, 0])?;
        Ok(faults)
    }

    /// The descriptor, for poll(2).
    pub fn fd(&self) -> c_int {
        self.fd
    }

    /// Tells of faults in this memory from now on.
    pub fn register(&self, start: usize, bytes: usize) -> Result<(), c_int> {
        self.ask(0x00, &mut [start as u64, bytes as u64, MODES, 0])
    }

    /// Tells of no faults in this memory any longer.
    pub fn unregister(&self, start: usize, bytes: usize) -> Result<(), c_int> {
        self.ask(0x01, &mut [start as u64, bytes as u64])
    }

    /// Whether faults of this page are told, and it is there. Only then may it be taken: where the
    /// program has replaced its memory before the kernel was asked to tell of it, a page that is
    /// away would be found missing by the kernel alone. Zeros are refused for a page that is there;
    /// one that is not reads as zeros in any case.
    pub fn tells_of(&self, page: usize) -> bool {
        self.zeros(page, PAGE) == Err(libc::EEXIST)
    }

    /// Whether the kernel has told of every change of the program's memory. `own` is a page that is
    /// told of.
    pub fn is_quiet(&self, own: usize) -> bool {
        self.protect(own, false) != Err(libc::EAGAIN)
    }

    /// Lets threads that wait for this page try again.
    pub fn wake(&self, page: usize) {
        let _ = self.ask(0x02, &mut [page as u64, PAGE as u64]);
    }

    /// Moves a page without a copy; threads that wait for it go on.
    pub fn take(&self, to: usize, from: usize) -> Result<(), c_int> {
        self.ask(0x05, &mut [to as u64, from as u64, PAGE as u64, 0, 0])
    }

    /// Copies a page to an address that has none.
    pub fn copy(&self, to: usize, from: usize) -> Result<(), c_int> {
        self.ask(0x03, &mut [to as u64, from as u64, PAGE as u64, 0, 0])
    }

    /// Fills memory that has no pages yet with zeros, up to the first page that is there: the bytes
    /// filled.
    pub fn zeros(&self, start: usize, bytes: usize) -> Result<usize, c_int> {
        let mut words = [start as u64, bytes as u64, 0, 0];
        match self.ask(0x04, &mut words) {
            Ok(()) => Ok(bytes),
            // The last word says how far it came.
            Err(_) if (words[3] as i64) > 0 => Ok(words[3] as usize),
            Err(error) => Err(error),
        }
    }

    /// Protects a page against writes, or no longer.
    pub fn protect(&self, page: usize, is_protected: bool) -> Result<(), c_int> {
        self.ask(0x06, &mut [page as u64, PAGE as u64, u64::from(is_protected)])
    }

    /// Gives what the kernel told since the last call; whether there may be more.
    pub fn events(&self, mut each: impl FnMut(Event)) -> bool {
        let mut messages = [[0_u64; MESSAGE_BYTES / 8]; MESSAGES];
        // SAFETY: the kernel writes at most the size of the array.
        let got =
            unsafe { libc::read(self.fd, messages.as_mut_ptr().cast(), size_of_val(&messages)) };
        let count = usize::try_from(got).unwrap_or(0) / MESSAGE_BYTES;
        messages.iter().take(count).filter_map(Event::parse).for_each(&mut each);
        count == MESSAGES
    }

    fn ask<const N: usize>(&self, number: u64, words: &mut [u64; N]) -> Result<(), c_int> {
        // SAFETY: the structure of this request has `N` words, by the kernel's header. The callers
        // see to what it does with the memory that the words name.
        let status = unsafe {
            libc::ioctl(self.fd, request(number, size_of::<[u64; N]>()), words.as_mut_ptr())
        };
        if status == 0 { Ok(()) } else { Err(errno()) }
    }
}

impl From<c_int> for Faults {
    /// The faults of a child, whose descriptor came in an event.
    fn from(fd: c_int) -> Self {
        Faults { fd }
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        // SAFETY: the descriptor is this value's own.
        unsafe { libc::close(self.fd) };
    }
}

fn errno() -> c_int {
    Error::last_os_error().raw_os_error().unwrap_or(0)
}
