//! The system call perf_event_open(2).

use crate::checked;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// `struct perf_event_attr` of `include/uapi/linux/perf_event.h`, up to `config2`.
#[repr(C)]
#[derive(Default)]
pub struct Attributes {
    pub kind: u32,
    /// [`ATTRIBUTE_BYTES`].
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup_events: u32,
    pub breakpoint_type: u32,
    pub config1: u64,
    pub config2: u64,
}

/// `PERF_ATTR_SIZE_VER1`.
pub const ATTRIBUTE_BYTES: u32 = size_of::<Attributes>() as u32;

pub const THIS_THREAD: i32 = 0;
pub const ANY_THREAD: i32 = -1;

pub const ANY_CPU: i32 = -1;

/// Opens an event of a thread on a CPU, without a group.
///
/// # Safety
/// `attributes` must be a `struct perf_event_attr` with as many bytes as its field `size` says, and
/// memory that it points to must outlive the call.
pub unsafe fn open<T>(attributes: &T, thread: i32, cpu: i32) -> io::Result<OwnedFd> {
    let no_group = -1;
    // SAFETY: the kernel reads `size` bytes of the attributes and keeps no reference to them.
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
    let fd = checked(fd)?;
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}
