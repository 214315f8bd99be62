//! eBPF programs at an instruction of a program's file (perf_event_open(2),
//! `Documentation/trace/uprobetracer.rst`).

use super::program::EbpfLink;
use crate::checked;
use crate::perf_event::{self, ANY_THREAD, ATTRIBUTE_BYTES, Attributes};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The event type for perf_event_open(2).
const KIND: &str = "/sys/bus/event_source/devices/uprobe/type";

/// `PERF_EVENT_IOC_SET_BPF`.
const SET_PROGRAM: libc::Ioctl = 0x4004_2408;

/// Runs a program whenever any process executes the instruction at this file offset.
///
/// # Errors
/// The kernel's: ENOENT without uprobes or the file, EACCES or EPERM without CAP_PERFMON, EINVAL
/// for an offset outside the file.
pub fn link(program: BorrowedFd<'_>, file: &Path, place: u64) -> io::Result<EbpfLink> {
    let kind = std::fs::read_to_string(KIND)?.trim().parse().map_err(io::Error::other)?;
    let file = CString::new(file.as_os_str().as_bytes())?;
    let attributes = Attributes {
        kind,
        size: ATTRIBUTE_BYTES,
        config1: file.as_ptr() as u64,
        // The instruction's file offset.
        config2: place,
        ..Attributes::default()
    };
    // The program runs on all CPUs regardless.
    let first_cpu = 0;
    // SAFETY: the attributes have `ATTRIBUTE_BYTES` bytes; the file's name ends with a zero byte
    // and outlives the call.
    let event = unsafe { perf_event::open(&attributes, ANY_THREAD, first_cpu)? };
    // SAFETY: the request takes a program's descriptor and no address.
    let answer = unsafe { libc::ioctl(event.as_raw_fd(), SET_PROGRAM, program.as_raw_fd()) };
    checked(answer).map(|_| EbpfLink(event))
}
