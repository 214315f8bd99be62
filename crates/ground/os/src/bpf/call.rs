//! The system call bpf(2).

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Commands, from `include/uapi/linux/bpf.h`.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(super) enum BpfCommand {
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

/// Makes the call with one of the structures of `union bpf_attr`. Returns the kernel's answer.
///
/// # Safety
/// Each address in `attributes` must point to as much memory as the command reads and writes there.
pub(super) unsafe fn bpf<T>(command: BpfCommand, attributes: &mut T) -> io::Result<i32> {
    // SAFETY: the kernel reads and writes `size` bytes of `attributes`, which is that large; the
    // caller promises the rest.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command as libc::c_long,
            std::ptr::from_mut(attributes),
            size_of::<T>(),
        )
    };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer as i32) }
}

/// Makes a call that answers with a new descriptor, which the kernel closes when this process
/// executes another program.
///
/// # Safety
/// As for [`bpf`]; the command must be one that opens a descriptor.
pub(super) unsafe fn open<T>(command: BpfCommand, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: as the caller promises.
    let fd = unsafe { bpf(command, attributes)? };
    // SAFETY: the kernel has just made this descriptor, and no other object owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The name of an object as the kernel takes it: letters, digits and `_`, at most 15 bytes and a
/// zero byte.
pub(super) fn object_name(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.iter_mut().take(15).zip(name.bytes()).for_each(|(to, from)| *to = from);
    bytes
}
