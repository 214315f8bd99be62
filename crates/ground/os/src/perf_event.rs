//! The system call perf_event_open(2), by which counts, records, watches and probes begin.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// `PERF_FLAG_FD_CLOEXEC`: the kernel closes the event when this process executes another program.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// The calling thread, or every thread.
pub(crate) const THIS_THREAD: i32 = 0;
pub(crate) const ANY_THREAD: i32 = -1;

/// Whichever CPU the thread runs on.
pub(crate) const ANY_CPU: i32 = -1;

/// Begins an event of a thread on a CPU, in no group.
///
/// # Safety
/// `attributes` must be a `struct perf_event_attr` of as many bytes as its field `size` says, and
/// what it points to must live until the call is over.
pub(crate) unsafe fn open<T>(attributes: &T, thread: i32, cpu: i32) -> io::Result<OwnedFd> {
    let no_group = -1;
    // SAFETY: the kernel reads `size` bytes of the attributes, as the caller promises, and keeps no
    // reference to them.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            thread,
            cpu,
            no_group,
            CLOSE_ON_EXEC,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, and no other object owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}
