//! ptrace(2), call by call, and the stops that it reports.

use crate::ending::Ending;
use seatmap_os::Tid;
use std::io;
use std::ptr;

/// The events that stop a thread: a new thread or process, and a program executed. `PTRACE_O_EXITKILL` is left out: a
/// launcher that is killed must not take the program with it; the kernel then lets go of every thread by itself.
const OPTIONS: libc::c_int =
    libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK | libc::PTRACE_O_TRACEEXEC;

/// The report of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The thread or process ended.
    Ended(Ending),
    /// It stopped.
    Stopped(Stop),
    /// The thread continues after a stop.
    Continued,
}

/// Why a thread stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The thread created a thread, or a process that shares more than a fork's.
    Cloned,
    /// It created a process.
    Forked,
    /// It executed a program.
    Executed,
    /// The thread's process was stopped by this signal.
    Group(i32),
    /// The thread is new, or was interrupted, or woke from a group stop.
    Trap,
    /// This signal is about to be delivered.
    Signal(i32),
}

impl Status {
    /// Decodes the status that waitpid(2) wrote.
    pub fn of(status: libc::c_int) -> Self {
        match status {
            _ if libc::WIFEXITED(status) => Status::Ended(Ending::Exited(libc::WEXITSTATUS(status))),
            _ if libc::WIFSIGNALED(status) => Status::Ended(Ending::Killed(libc::WTERMSIG(status))),
            _ if libc::WIFCONTINUED(status) => Status::Continued,
            _ => Status::Stopped(stop(status >> 16, libc::WSTOPSIG(status))),
        }
    }
}

fn stop(event: libc::c_int, signal: libc::c_int) -> Stop {
    match (event, signal) {
        (libc::PTRACE_EVENT_CLONE, _) => Stop::Cloned,
        (libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK, _) => Stop::Forked,
        (libc::PTRACE_EVENT_EXEC, _) => Stop::Executed,
        (libc::PTRACE_EVENT_STOP, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => Stop::Group(signal),
        (0, _) => Stop::Signal(signal),
        _ => Stop::Trap,
    }
}

/// The thread that has something to report, and whether it ended; `None` where no thread has. A report stays until
/// [`take_report`].
pub(crate) fn next_report() -> Option<(Tid, bool)> {
    // SAFETY: an all-zero siginfo_t is valid.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let which = libc::WEXITED | libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: `found` is writable.
    let status = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut found, which) };
    // SAFETY: waitid fills the fields of a child's report, and leaves zeros where there is none.
    let tid = unsafe { found.si_pid() };
    let ended = [libc::CLD_EXITED, libc::CLD_KILLED, libc::CLD_DUMPED].contains(&found.si_code);
    (status == 0 && tid != 0).then_some((tid, ended))
}

/// Takes the report of a thread; for a dead one, this frees its number.
pub(crate) fn take_report(tid: Tid) -> Option<Status> {
    let mut status = 0;
    let which = libc::WNOHANG | libc::__WALL | libc::WUNTRACED | libc::WCONTINUED;
    // SAFETY: `status` is writable.
    let found = unsafe { libc::waitpid(tid, &raw mut status, which) };
    (found == tid).then(|| Status::of(status))
}

/// Begins to trace a thread and all that it creates, without stopping it.
///
/// # Errors
/// The kernel's error: `EPERM` where tracing is forbidden, or another process traces it.
pub(crate) fn seize(tid: Tid) -> io::Result<()> {
    call(libc::PTRACE_SEIZE, tid, OPTIONS as usize)
}

// A thread may die at any moment, and each of these calls then fails with ESRCH; its end is reported like every
// other.

/// Lets a stopped thread run, with this signal delivered; 0 means no signal.
pub(crate) fn resume(tid: Tid, signal: i32) {
    let _ = call(libc::PTRACE_CONT, tid, signal as usize);
}

/// Leaves a thread in its group stop, but learns when it ends.
pub(crate) fn listen(tid: Tid) {
    let _ = call(libc::PTRACE_LISTEN, tid, 0);
}

/// Stops a running thread.
pub(crate) fn interrupt(tid: Tid) {
    let _ = call(libc::PTRACE_INTERRUPT, tid, 0);
}

/// Lets go of a stopped thread, with this signal delivered; 0 means no signal.
pub(crate) fn detach(tid: Tid, signal: i32) {
    let _ = call(libc::PTRACE_DETACH, tid, signal as usize);
}

/// The message of a stop: the new thread's number, or the former number of one that executed a program.
pub(crate) fn message(tid: Tid) -> Option<Tid> {
    let mut message: libc::c_ulong = 0;
    call(libc::PTRACE_GETEVENTMSG, tid, (&raw mut message).expose_provenance()).ok()?;
    Tid::try_from(message).ok()
}

fn call(request: libc::c_uint, tid: Tid, data: usize) -> io::Result<()> {
    let none = ptr::null_mut::<libc::c_void>();
    // SAFETY: none of the requests above reads memory of ours; GETEVENTMSG writes one word to where `data` points.
    let status = unsafe { libc::ptrace(request, tid, none, data) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_told_apart() {
        let stopped = |event: i32, signal: i32| Status::of(event << 16 | signal << 8 | 0x7f);
        assert_eq!(stopped(libc::PTRACE_EVENT_CLONE, libc::SIGTRAP), Status::Stopped(Stop::Cloned));
        assert_eq!(stopped(libc::PTRACE_EVENT_VFORK, libc::SIGTRAP), Status::Stopped(Stop::Forked));
        assert_eq!(stopped(libc::PTRACE_EVENT_EXEC, libc::SIGTRAP), Status::Stopped(Stop::Executed));
        assert_eq!(stopped(libc::PTRACE_EVENT_STOP, libc::SIGTRAP), Status::Stopped(Stop::Trap));
        assert_eq!(stopped(libc::PTRACE_EVENT_STOP, libc::SIGTSTP), Status::Stopped(Stop::Group(libc::SIGTSTP)));
        assert_eq!(stopped(0, libc::SIGTRAP), Status::Stopped(Stop::Signal(libc::SIGTRAP)));
        assert_eq!(Status::of(3 << 8), Status::Ended(Ending::Exited(3)));
        assert_eq!(Status::of(libc::SIGSEGV), Status::Ended(Ending::Killed(libc::SIGSEGV)));
        assert_eq!(Status::of(0xffff), Status::Continued);
    }
}
