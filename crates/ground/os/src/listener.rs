//! System calls answered by another process (seccomp_unotify(2)).
//!
//! Before exec, the program installs a [`CallFilter`] and sends its [`CallListener`] to the
//! answering process. The kernel holds trapped calls until answered; others cost only the filter.
//!
//! A waiting thread's number may be reused. So open its memory first and then call
//! [`CallListener::holds`]: an open memory file stays with its process.

use crate::{Tid, checked};
use rustix::cmsg_space;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;

/// System calls that can be trapped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrappedCall {
    /// `sched_getaffinity`.
    GetAffinity,
    /// `sched_setaffinity`.
    SetAffinity,
    /// `getcpu`.
    GetCpu,
    /// `get_mempolicy`.
    GetPolicy,
    /// `set_mempolicy`.
    SetPolicy,
    /// `mbind`.
    BindMemory,
    /// `move_pages`.
    MovePages,
    /// `migrate_pages`.
    MigratePages,
    /// `set_mempolicy_home_node`.
    HomeNode,
    /// `open`: argument 1 points to the path, argument 2 has the flags.
    Open,
    /// `openat`: argument 2 points to the path, argument 3 has the flags.
    OpenAt,
    /// `openat2`: argument 2 points to the path, argument 3 to the flags.
    OpenAt2,
    /// `statfs`: argument 1 points to the path.
    StatFs,
    /// `fstatfs`: argument 1 is the descriptor.
    FStatFs,
    /// `clone`: argument 1 has the flags.
    Clone,
    /// `clone3`: argument 1 points to the flags.
    Clone3,
    /// `fork` and `vfork`.
    Fork,
    /// `exit` of a thread.
    Exit,
    /// `exit_group` of a process.
    ExitGroup,
}

/// On all processors since Linux 5.17.
const HOME_NODE: libc::c_long = 450;

const CALLS: &[(libc::c_long, TrappedCall)] = &[
    (libc::SYS_sched_getaffinity, TrappedCall::GetAffinity),
    (libc::SYS_sched_setaffinity, TrappedCall::SetAffinity),
    (libc::SYS_getcpu, TrappedCall::GetCpu),
    (libc::SYS_get_mempolicy, TrappedCall::GetPolicy),
    (libc::SYS_set_mempolicy, TrappedCall::SetPolicy),
    (libc::SYS_mbind, TrappedCall::BindMemory),
    (libc::SYS_move_pages, TrappedCall::MovePages),
    (libc::SYS_migrate_pages, TrappedCall::MigratePages),
    (HOME_NODE, TrappedCall::HomeNode),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, TrappedCall::Open),
    (libc::SYS_openat, TrappedCall::OpenAt),
    (libc::SYS_openat2, TrappedCall::OpenAt2),
    (libc::SYS_statfs, TrappedCall::StatFs),
    (libc::SYS_fstatfs, TrappedCall::FStatFs),
    (libc::SYS_clone, TrappedCall::Clone),
    (libc::SYS_clone3, TrappedCall::Clone3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_fork, TrappedCall::Fork),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_vfork, TrappedCall::Fork),
    (libc::SYS_exit, TrappedCall::Exit),
    (libc::SYS_exit_group, TrappedCall::ExitGroup),
];

/// `AUDIT_ARCH_*` of `include/uapi/linux/audit.h`; `None` if calls cannot be trapped.
const PROCESSOR: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// `offsetof(struct seccomp_data, nr)` and `arch`.
const NUMBER_AT: u32 = 0;
const PROCESSOR_AT: u32 = 4;

/// `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV` (Linux 5.19): otherwise Go's preemption signals would
/// restart a waiting call forever.
const WAITS_KILLABLE: libc::c_ulong = 1 << 5;

/// A filter that traps every [`TrappedCall`] of a process and its descendants.
#[derive(Debug)]
pub struct CallFilter(Vec<libc::sock_filter>);

impl CallFilter {
    /// The filter for this processor, if its calls are known.
    pub fn new() -> Option<Self> {
        let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        let is_equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        let give = (libc::BPF_RET | libc::BPF_K) as u16;
        let count = u8::try_from(CALLS.len()).ok()?;
        // Calls of 32-bit programs have other numbers and pass.
        let mut steps = vec![
            step(load, PROCESSOR_AT, 0, 0),
            step(is_equal, PROCESSOR?, 0, count + 1),
            step(load, NUMBER_AT, 0, 0),
        ];
        for (at, (number, _)) in (0..count).zip(CALLS) {
            steps.push(step(is_equal, u32::try_from(*number).ok()?, count - at, 0));
        }
        steps.push(step(give, libc::SECCOMP_RET_ALLOW, 0, 0));
        steps.push(step(give, libc::SECCOMP_RET_USER_NOTIF, 0, 0));
        Some(CallFilter(steps))
    }

    /// Permanently installs the filter on the calling thread and returns the listener's descriptor.
    /// Set-user-ID programs then grant no rights. Allocates nothing.
    ///
    /// # Errors
    /// The kernel's: `EINVAL` before Linux 5.0, `EBUSY` if another process listens.
    pub fn put_up(&self) -> io::Result<RawFd> {
        let program =
            libc::sock_fprog { len: self.0.len() as u16, filter: self.0.as_ptr().cast_mut() };
        let plain = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
        // SAFETY: sets an attribute of this process, and touches no memory.
        checked(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
        for flags in [plain | WAITS_KILLABLE, plain] {
            // SAFETY: the program outlives the call, and the kernel copies it.
            let listener = unsafe {
                libc::syscall(
                    libc::SYS_seccomp,
                    libc::SECCOMP_SET_MODE_FILTER,
                    flags,
                    &raw const program,
                )
            };
            if listener >= 0 {
                return Ok(listener as RawFd);
            }
            if io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) {
                break;
            }
        }
        Err(io::Error::last_os_error())
    }
}

fn step(code: u16, operand: u32, if_equal: u8, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt: if_equal, jf: otherwise, k: operand }
}

/// A call that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub struct WaitingCall {
    id: u64,
    /// Calling thread.
    pub tid: Tid,
    /// Call.
    pub call: TrappedCall,
    /// Argument registers.
    pub arguments: [u64; 6],
}

/// The answer to a call.
#[derive(Debug, PartialEq)]
pub enum CallAnswer {
    /// Return this value.
    Value(i64),
    /// Fail with this error number.
    Failure(i32),
    /// Open a file.
    File(AnsweredFile),
    /// Let the kernel run the call.
    CarriedOut,
}

/// A file opened by an answer.
#[derive(Debug, PartialEq)]
pub struct AnsweredFile {
    /// Contents.
    pub text: String,
    /// Whether the descriptor is closed by exec.
    pub closes_on_exec: bool,
}

/// Receives trapped calls.
#[derive(Debug)]
pub struct CallListener(OwnedFd);

impl CallListener {
    /// Wraps a descriptor from another process's [`CallFilter::put_up`].
    pub fn new(descriptor: OwnedFd) -> Self {
        CallListener(descriptor)
    }

    /// The next call, once the descriptor is readable; `None` if its thread has ended.
    ///
    /// # Errors
    /// The kernel's.
    pub fn next(&self) -> io::Result<Option<WaitingCall>> {
        // SAFETY: an all-zero notification is valid, and the kernel demands one.
        let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        if let Err(error) = self.control(libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notice) {
            // The call's thread was killed, or this one was interrupted.
            let gone = [libc::ENOENT, libc::EINTR].map(Some);
            return if gone.contains(&error.raw_os_error()) { Ok(None) } else { Err(error) };
        }
        let number = libc::c_long::from(notice.data.nr);
        let call = CALLS.iter().find(|(known, _)| *known == number).map(|(_, call)| *call);
        Ok(call.map(|call| WaitingCall {
            id: notice.id,
            tid: notice.pid as Tid,
            call,
            arguments: notice.data.args,
        }))
    }

    /// Whether the call still waits, so data just read is its thread's.
    pub fn holds(&self, call: &WaitingCall) -> bool {
        let mut id = call.id;
        self.control(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id).is_ok()
    }

    /// The memory of a call's process, valid even if its number is reused.
    ///
    /// # Errors
    /// The kernel's: `ESRCH` if the thread has ended.
    pub fn memory(&self, call: &WaitingCall) -> io::Result<File> {
        let path = format!("/proc/{}/mem", call.tid);
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        // Opened first, as its number may be reused.
        if self.holds(call) { Ok(file) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    }

    /// Answers a call, unless its thread has ended.
    ///
    /// # Errors
    /// The kernel's.
    pub fn answer(&self, call: &WaitingCall, answer: CallAnswer) -> io::Result<()> {
        let mut response = libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags: 0 };
        match answer {
            CallAnswer::Value(value) => response.val = value,
            CallAnswer::Failure(code) => response.error = -code,
            // Before Linux 5.14 the program opens its own file.
            CallAnswer::File(file) => match self.open(call, &file) {
                Ok(()) => return Ok(()),
                Err(_) => response.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            },
            CallAnswer::CarriedOut => {
                response.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
            }
        }
        match self.control(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) {
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
            answered => answered,
        }
    }

    fn open(&self, call: &WaitingCall, answered: &AnsweredFile) -> io::Result<()> {
        let file = File::from(memfd_create("seatmap", MemfdFlags::CLOEXEC)?);
        file.write_all_at(answered.text.as_bytes(), 0)?;
        let flags = if answered.closes_on_exec { libc::O_CLOEXEC } else { 0 };
        let mut handed = libc::seccomp_notif_addfd {
            id: call.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: file.as_raw_fd() as u32,
            newfd: 0,
            newfd_flags: flags as u32,
        };
        self.control(libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw mut handed)
    }

    fn control<T>(&self, request: libc::Ioctl, argument: *mut T) -> io::Result<()> {
        // SAFETY: the argument is writable and of the type that the request has.
        let status = unsafe { libc::ioctl(self.0.as_raw_fd(), request, argument) };
        checked(status).map(drop)
    }
}

impl AsRawFd for CallListener {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Sends a descriptor through a socket. Allocates nothing.
///
/// # Errors
/// The kernel's.
pub fn send_descriptor(socket: RawFd, descriptor: RawFd) -> io::Result<()> {
    // SAFETY: both descriptors stay open during the call.
    let [socket, descriptor] = [socket, descriptor].map(|fd| unsafe { BorrowedFd::borrow_raw(fd) });
    let mut room = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    let descriptors = [descriptor];
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives a descriptor from a socket, unless the other end is closed.
///
/// # Errors
/// The kernel's.
pub fn receive_descriptor(socket: impl AsFd) -> io::Result<Option<OwnedFd>> {
    let mut byte = [0];
    let mut room = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    Ok(control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn listed_calls_trap_and_others_pass() {
        let Some(CallFilter(steps)) = CallFilter::new() else { return };
        let last = steps.len() - 1;
        assert_eq!(steps[last].k, libc::SECCOMP_RET_USER_NOTIF);
        assert_eq!(steps[last - 1].k, libc::SECCOMP_RET_ALLOW);
        let jumps = steps.iter().enumerate().skip(3).take(CALLS.len());
        assert!(jumps.clone().all(|(at, jump)| at + 1 + usize::from(jump.jt) == last));
        assert_eq!(2 + usize::from(steps[1].jf), last - 1, "another processor's calls pass");
    }

    #[test]
    fn descriptors_travel_through_sockets() {
        let (here, there) = UnixStream::pair().unwrap();
        let (reader, writer) = io::pipe().unwrap();
        send_descriptor(here.as_raw_fd(), writer.as_raw_fd()).unwrap();
        drop(writer);
        let writer = receive_descriptor(&there).unwrap().unwrap();
        io::Write::write_all(&mut io::PipeWriter::from(writer), b"x").unwrap();
        assert_eq!(io::read_to_string(reader).unwrap(), "x");
        drop(here);
        assert!(receive_descriptor(&there).unwrap().is_none());
    }
}
