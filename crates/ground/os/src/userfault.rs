//! userfaultfd(2): whether this user may see the page faults of a process.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `UFFDIO_API` and the features that sampling by page needs, from
/// `include/uapi/linux/userfaultfd.h`: faults on protected pages, the events of forks and of memory
/// that changes, threads' numbers, exact addresses, and moves.
const API: libc::c_ulong = 0xc018_aa3f;
const VERSION: u64 = 0xaa;
const FEATURES: u64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 6 | 1 << 8 | 1 << 11 | 1 << 16;

/// Whether a process of this user may sample its own pages.
///
/// # Errors
/// The kernel's: EPERM without CAP_SYS_PTRACE, EINVAL before Linux 6.8, ENOSYS without
/// CONFIG_USERFAULTFD.
pub fn check() -> io::Result<()> {
    // SAFETY: the call has no preconditions.
    let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | libc::O_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, and no other object owns it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    let mut request = [VERSION, FEATURES, 0];
    // SAFETY: the structure of this request has three words of 64 bits.
    let status = unsafe { libc::ioctl(fd.as_raw_fd(), API, request.as_mut_ptr()) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_yes_or_a_known_error() {
        let known = [libc::EPERM, libc::EINVAL, libc::ENOSYS].map(Some);
        assert!(check().err().is_none_or(|error| known.contains(&error.raw_os_error())));
    }
}
