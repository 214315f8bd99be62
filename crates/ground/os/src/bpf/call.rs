//! The system call bpf(2).

use crate::checked;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// From `include/uapi/linux/bpf.h`.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum BpfCommand {
    MapCreate = 0,
    LookupElement = 1,
    UpdateElement = 2,
    DeleteElement = 3,
    NextKey = 4,
    ProgramLoad = 5,
    ObjectInfo = 15,
    RawTracepointOpen = 17,
    LookupBatch = 24,
    TakeBatch = 25,
    EnableStatistics = 32,
}

/// Makes the call with a structure of `union bpf_attr`.
///
/// # Safety
/// Each address in `attributes` must point to as much memory as the command reads and writes there.
pub unsafe fn bpf<T>(command: BpfCommand, attributes: &mut T) -> io::Result<i32> {
    // SAFETY: the kernel uses `size` bytes of `attributes`; the caller guarantees the rest.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command as libc::c_long,
            std::ptr::from_mut(attributes),
            size_of::<T>(),
        )
    };
    checked(answer).map(|answer| answer as i32)
}

/// Makes a call that returns a new close-on-exec descriptor.
///
/// # Safety
/// As for [`bpf`]; the command must open a descriptor.
pub unsafe fn open<T>(command: BpfCommand, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: guaranteed by the caller.
    let fd = unsafe { bpf(command, attributes)? };
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// An object's name: letters, digits and `_`, at most 15 bytes and a zero byte.
pub fn object_name(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.iter_mut().take(15).zip(name.bytes()).for_each(|(to, from)| *to = from);
    bytes
}
