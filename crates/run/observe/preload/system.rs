//! Functions of the C library, and a lock.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_long};
use core::ops::{Deref, DerefMut};
use core::ptr::null_mut;

/// Makes `dlsym` search all objects (dlsym(3)).
pub const DEFAULT: *mut u8 = null_mut();
/// Makes `dlsym` search the objects after this library.
pub const NEXT: *mut u8 = usize::MAX as *mut u8;

/// Makes `dlopen` find an already loaded object: `RTLD_LAZY | RTLD_NOLOAD`.
pub const LOADED: c_int = 1 | 4;

/// Clocks, from `include/uapi/linux/time.h`.
pub const REALTIME: c_int = 0;
pub const PROCESS_CPU_TIME: c_int = 2;

/// `O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC`: with these the kernel follows no link.
const NEW_FILE: c_int = 1 | 0o100 | 0o200 | 0o2_000_000;

#[cfg(target_arch = "x86_64")]
const GETTID: c_long = 186;
#[cfg(target_arch = "aarch64")]
const GETTID: c_long = 178;

unsafe extern "C" {
    pub fn dlsym(object: *mut u8, name: *const c_char) -> *mut u8;
    pub fn dlopen(name: *const c_char, flags: c_int) -> *mut u8;
    fn getenv(name: *const c_char) -> *const c_char;
    fn getpid() -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn write(file: c_int, bytes: *const u8, count: usize) -> isize;
    fn close(file: c_int) -> c_int;
    fn pthread_mutex_lock(mutex: *mut Mutex) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut Mutex) -> c_int;
}

/// A non-empty environment variable.
pub fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name is a C string, and so is the value, which the program leaves in place.
    let value = unsafe {
        let value = getenv(name.as_ptr());
        if value.is_null() { c"" } else { CStr::from_ptr(value) }
    };
    (!value.is_empty()).then_some(value)
}

pub fn process() -> c_int {
    // SAFETY: the call has no preconditions.
    unsafe { getpid() }
}

pub fn thread() -> c_long {
    // SAFETY: the call has no preconditions.
    unsafe { syscall(GETTID) }
}

/// A clock's time; 0 if it does not exist.
pub fn clock_ns(clock: c_int) -> i64 {
    let mut time = [0; 2];
    // SAFETY: `struct timespec` has two words of 64 bits on these processors.
    unsafe { clock_gettime(clock, &raw mut time) };
    time[0] * 1_000_000_000 + time[1]
}

/// Creates a file; false if it exists or the kernel refuses.
pub fn write_new(path: &CStr, text: &[u8]) -> bool {
    // SAFETY: the path is a C string.
    let file = unsafe { open(path.as_ptr(), NEW_FILE, 0o600) };
    if file < 0 {
        return false;
    }
    let mut rest = text;
    while !rest.is_empty() {
        // SAFETY: the bytes are in the text.
        let written = unsafe { write(file, rest.as_ptr(), rest.len()) };
        let Some(left) = usize::try_from(written).ok().filter(|n| *n > 0) else { break };
        rest = rest.get(left..).unwrap_or_default();
    }
    // SAFETY: the file was opened above.
    unsafe { close(file) };
    true
}

/// `pthread_mutex_t` before its first use: zeros in glibc and musl, at most 48 bytes.
#[repr(C, align(16))]
struct Mutex(UnsafeCell<[u64; 8]>);

/// A value for one thread at a time.
pub struct Locked<T> {
    mutex: Mutex,
    value: UnsafeCell<T>,
}

// SAFETY: the lock lets one thread at a time to the value.
unsafe impl<T: Send> Sync for Locked<T> {}

pub struct LockedGuard<'a, T>(&'a Locked<T>);

impl<T> Locked<T> {
    pub const fn new(value: T) -> Self {
        Locked { mutex: Mutex(UnsafeCell::new([0; 8])), value: UnsafeCell::new(value) }
    }

    pub fn lock(&self) -> LockedGuard<'_, T> {
        // SAFETY: the mutex stays where it is.
        unsafe { pthread_mutex_lock((&raw const self.mutex).cast_mut()) };
        LockedGuard(self)
    }
}

impl<T> Deref for LockedGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for LockedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the lock.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for LockedGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this thread has the lock.
        unsafe { pthread_mutex_unlock((&raw const self.0.mutex).cast_mut()) };
    }
}
