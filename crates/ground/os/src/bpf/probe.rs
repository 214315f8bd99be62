//! Programs of eBPF that run where another program does: at an instruction of its file
//! (perf_event_open(2), `Documentation/trace/uprobetracer.rst`).

use super::program::EbpfLink;
use crate::perf_event::{self, ANY_THREAD};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The number by which perf_event_open(2) knows such places.
const KIND: &str = "/sys/bus/event_source/devices/uprobe/type";

/// The length of `struct perf_event_attr` in its first version with `config2`
/// (`PERF_ATTR_SIZE_VER1` of `include/uapi/linux/perf_event.h`).
const ATTRIBUTE_BYTES: u32 = 72;

/// `PERF_EVENT_IOC_SET_BPF`: the program that runs at each event.
const SET_PROGRAM: libc::Ioctl = 0x4004_2408;

/// `struct perf_event_attr`, up to `config2`.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    /// The address of the file's name.
    file: u64,
    /// The instruction's place in the file.
    place: u64,
}

/// Runs a program whenever any process executes the instruction at this byte of a file.
///
/// # Errors
/// The kernel's: ENOENT without such events or without the file, EACCES or EPERM without
/// CAP_PERFMON, EINVAL for a byte outside the file.
pub(super) fn link(program: BorrowedFd<'_>, file: &Path, place: u64) -> io::Result<EbpfLink> {
    let kind = std::fs::read_to_string(KIND)?.trim().parse().map_err(io::Error::other)?;
    let file = CString::new(file.as_os_str().as_bytes())?;
    let attributes = Attributes {
        kind,
        size: ATTRIBUTE_BYTES,
        file: file.as_ptr() as u64,
        place,
        ..Attributes::default()
    };
    // The program runs on all CPUs, wherever the event itself is.
    let first_cpu = 0;
    // SAFETY: the attributes are `ATTRIBUTE_BYTES` bytes long; the file's name ends with a zero
    // byte and lives until after the call.
    let event = unsafe { perf_event::open(&attributes, ANY_THREAD, first_cpu)? };
    // SAFETY: the request takes the descriptor of a program and no address.
    let answer = unsafe { libc::ioctl(event.as_raw_fd(), SET_PROGRAM, program.as_raw_fd()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(EbpfLink(event)) }
}
