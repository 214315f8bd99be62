//! ptrace(2), call by call, and the stops that it reports.

use crate::Ending;
use seatmap_os::{Tid, checked};

use seatmap_os::task::ThreadStat;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::{io, ptr};

/// Without `PTRACE_O_EXITKILL`, because a killed launcher must not kill the program; the kernel
/// then releases every thread.
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC;

/// `NT_PRSTATUS` of elf(5).
const ORDINARY: usize = 1;

const SIGNALS_BYTES: usize = 8;

const SPINS: u32 = 200;
const PAUSE: std::time::Duration = std::time::Duration::from_micros(50);

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WaitStatus {
    Ended(Ending),
    Stopped(TraceeStop),
    Continued,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceeStop {
    Cloned,
    Forked,
    Executed,
    Exiting,
    Group(i32),
    Trap,
    Signal(i32),
}

impl WaitStatus {
    /// Decodes the status of waitpid(2).
    pub fn of(status: libc::c_int) -> Self {
        match status {
            _ if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) => {
                WaitStatus::Ended(Ending::of(ExitStatus::from_raw(status)))
            }
            _ if libc::WIFCONTINUED(status) => WaitStatus::Continued,
            _ => WaitStatus::Stopped(stop(status >> 16, libc::WSTOPSIG(status))),
        }
    }
}

fn stop(event: libc::c_int, signal: libc::c_int) -> TraceeStop {
    match (event, signal) {
        (libc::PTRACE_EVENT_CLONE, _) => TraceeStop::Cloned,
        (libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK, _) => TraceeStop::Forked,
        (libc::PTRACE_EVENT_EXEC, _) => TraceeStop::Executed,
        (libc::PTRACE_EVENT_EXIT, _) => TraceeStop::Exiting,
        (
            libc::PTRACE_EVENT_STOP,
            libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU,
        ) => TraceeStop::Group(signal),
        (0, _) => TraceeStop::Signal(signal),
        _ => TraceeStop::Trap,
    }
}

/// A thread with a report, which stays until [`take_report`], and whether it ended.
pub fn next_report() -> Option<(Tid, bool)> {
    // SAFETY: an all-zero siginfo_t is valid.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let which = libc::WEXITED
        | libc::WSTOPPED
        | libc::WCONTINUED
        | libc::WNOHANG
        | libc::WNOWAIT
        | libc::__WALL;
    // SAFETY: `found` is writable.
    let status = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut found, which) };
    // SAFETY: waitid fills the fields of a child's report, and leaves zeros if there is none.
    let tid = unsafe { found.si_pid() };
    let ended = [libc::CLD_EXITED, libc::CLD_KILLED, libc::CLD_DUMPED].contains(&found.si_code);
    (status == 0 && tid != 0).then_some((tid, ended))
}

/// For a dead thread, this frees its number.
pub fn take_report(tid: Tid) -> Option<WaitStatus> {
    report(tid, libc::WNOHANG | libc::__WALL | libc::WUNTRACED | libc::WCONTINUED)
}

fn report(tid: Tid, which: libc::c_int) -> Option<WaitStatus> {
    let mut status = 0;
    // SAFETY: `status` is writable.
    let found = unsafe { libc::waitpid(tid, &raw mut status, which) };
    (found == tid).then(|| WaitStatus::of(status))
}

/// `None` if the thread has died and its report must wait: a first thread's comes last in its
/// process.
pub fn wait_for(tid: Tid, is_first: bool) -> Option<WaitStatus> {
    if !is_first {
        return report(tid, libc::__WALL);
    }
    for looks in 0_u32.. {
        if let Some(status) = take_report(tid) {
            return Some(status);
        }
        match looks {
            ..SPINS => std::thread::yield_now(),
            _ if ThreadStat::of(tid).is_none_or(|task| task.has_ended()) => return None,
            _ => std::thread::sleep(PAUSE),
        }
    }
    None
}

/// Begins to trace a thread and all that it creates, without stopping it.
///
/// # Errors
/// The kernel's error: `EPERM` if tracing is forbidden, or another process traces the thread.
pub fn seize(tid: Tid, sees_ends: bool) -> io::Result<()> {
    let ends = if sees_ends { libc::PTRACE_O_TRACEEXIT } else { 0 };
    call(libc::PTRACE_SEIZE, tid, (OPTIONS | ends) as usize)
}

// A thread may die at any moment. These calls then fail with ESRCH; its end is reported as usual.

pub fn resume(tid: Tid, signal: i32) {
    let _ = call(libc::PTRACE_CONT, tid, signal as usize);
}

pub fn step(tid: Tid) {
    let _ = call(libc::PTRACE_SINGLESTEP, tid, 0);
}

/// Leaves a thread in its group stop.
pub fn listen(tid: Tid) {
    let _ = call(libc::PTRACE_LISTEN, tid, 0);
}

pub fn interrupt(tid: Tid) {
    let _ = call(libc::PTRACE_INTERRUPT, tid, 0);
}

pub fn detach(tid: Tid, signal: i32) {
    let _ = call(libc::PTRACE_DETACH, tid, signal as usize);
}

/// A new thread's number, or the former number of a thread that executed a program.
pub fn message(tid: Tid) -> Option<Tid> {
    let mut message: libc::c_ulong = 0;
    call(libc::PTRACE_GETEVENTMSG, tid, (&raw mut message).expose_provenance()).ok()?;
    Tid::try_from(message).ok()
}

/// Returns the registers' size in bytes.
///
/// # Errors
/// The kernel's error.
pub fn registers(tid: Tid, registers: &mut [u64]) -> io::Result<usize> {
    let mut place =
        libc::iovec { iov_base: registers.as_mut_ptr().cast(), iov_len: size_of_val(registers) };
    call_at(libc::PTRACE_GETREGSET, tid, ORDINARY, (&raw mut place).expose_provenance())?;
    Ok(place.iov_len)
}

/// Writes the registers of a stopped thread.
///
/// # Errors
/// The kernel's error.
pub fn set_registers(tid: Tid, registers: &[u64]) -> io::Result<()> {
    let mut place = libc::iovec {
        iov_base: registers.as_ptr().cast_mut().cast(),
        iov_len: size_of_val(registers),
    };
    call_at(libc::PTRACE_SETREGSET, tid, ORDINARY, (&raw mut place).expose_provenance())
}

/// The signals blocked by a stopped thread.
///
/// # Errors
/// The kernel's error.
pub fn signal_mask(tid: Tid) -> io::Result<u64> {
    let mut mask: u64 = 0;
    call_at(libc::PTRACE_GETSIGMASK, tid, SIGNALS_BYTES, (&raw mut mask).expose_provenance())?;
    Ok(mask)
}

/// Sets the signals blocked by a stopped thread.
///
/// # Errors
/// The kernel's error.
pub fn set_signal_mask(tid: Tid, mask: u64) -> io::Result<()> {
    call_at(libc::PTRACE_SETSIGMASK, tid, SIGNALS_BYTES, (&raw const mask).expose_provenance())
}

/// Reads memory of a thread's process.
///
/// # Errors
/// The kernel's error: `EFAULT` if nothing is mapped.
pub fn read_memory(tid: Tid, at: u64, to: &mut [u8]) -> io::Result<()> {
    // SAFETY: the memory is writable and of that length.
    unsafe { transfer(libc::process_vm_readv, tid, at, to.as_mut_ptr(), to.len()) }
}

/// Writes memory of a thread's process.
///
/// # Errors
/// The kernel's error: `EFAULT` if nothing is mapped, or writing is forbidden.
pub fn write_memory(tid: Tid, at: u64, from: &[u8]) -> io::Result<()> {
    // SAFETY: the memory is only read, and of that length.
    unsafe { transfer(libc::process_vm_writev, tid, at, from.as_ptr().cast_mut(), from.len()) }
}

type Transfer = unsafe extern "C" fn(
    Tid,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> libc::ssize_t;

/// # Safety
/// The memory here has this length, and is writable if the call writes to it.
unsafe fn transfer(
    call: Transfer,
    tid: Tid,
    at: u64,
    here: *mut u8,
    iov_len: usize,
) -> io::Result<()> {
    let here = libc::iovec { iov_base: here.cast(), iov_len };
    let there = libc::iovec { iov_base: ptr::without_provenance_mut(at as usize), iov_len };
    // SAFETY: the caller's promise; the kernel checks `there`, in another process.
    let bytes = checked(unsafe { call(tid, &raw const here, 1, &raw const there, 1, 0) } as i64)?;
    if bytes == iov_len as u64 { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EFAULT)) }
}

fn call(request: libc::c_uint, tid: Tid, data: usize) -> io::Result<()> {
    call_at(request, tid, 0, data)
}

fn call_at(request: libc::c_uint, tid: Tid, at: usize, data: usize) -> io::Result<()> {
    let at = ptr::without_provenance_mut::<libc::c_void>(at);
    // SAFETY: requests that read or write this process's memory do so at `data`, which has the
    // length required by the request, and is writable if the request writes.
    checked(unsafe { libc::ptrace(request, tid, at, data) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_statuses_are_decoded() {
        let stopped = |event: i32, signal: i32| WaitStatus::of(event << 16 | signal << 8 | 0x7f);
        assert_eq!(
            stopped(libc::PTRACE_EVENT_CLONE, libc::SIGTRAP),
            WaitStatus::Stopped(TraceeStop::Cloned)
        );
        assert_eq!(
            stopped(libc::PTRACE_EVENT_VFORK, libc::SIGTRAP),
            WaitStatus::Stopped(TraceeStop::Forked)
        );
        assert_eq!(
            stopped(libc::PTRACE_EVENT_EXEC, libc::SIGTRAP),
            WaitStatus::Stopped(TraceeStop::Executed)
        );
        assert_eq!(
            stopped(libc::PTRACE_EVENT_STOP, libc::SIGTRAP),
            WaitStatus::Stopped(TraceeStop::Trap)
        );
        assert_eq!(
            stopped(libc::PTRACE_EVENT_STOP, libc::SIGTSTP),
            WaitStatus::Stopped(TraceeStop::Group(libc::SIGTSTP))
        );
        assert_eq!(
            stopped(libc::PTRACE_EVENT_EXIT, libc::SIGTRAP),
            WaitStatus::Stopped(TraceeStop::Exiting)
        );
        assert_eq!(
            stopped(0, libc::SIGTRAP),
            WaitStatus::Stopped(TraceeStop::Signal(libc::SIGTRAP))
        );
        assert_eq!(WaitStatus::of(3 << 8), WaitStatus::Ended(Ending::Exited(3)));
        assert_eq!(WaitStatus::of(libc::SIGSEGV), WaitStatus::Ended(Ending::Killed(libc::SIGSEGV)));
        assert_eq!(WaitStatus::of(0xffff), WaitStatus::Continued);
    }
}
