//! The child process that becomes the program.

use crate::executable::Executable;
use crate::signals::Signals;
use seatmap_os::{Tid, checked};

use seatmap_os::mempolicy::{MemoryPolicy, PolicyCall};
use seatmap_os::private_files::PrivateFiles;
use std::ffi::{CStr, c_char};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::{io, ptr};

/// A shell's status for a failed execution.
const NOT_EXECUTED: i32 = 127;

/// Runs scripts without a `#!` line, as in `execvp(3)`.
const SHELL: &CStr = c"/bin/sh";

pub struct Child {
    pub pid: Tid,
    /// If closed without a byte, the waiting child ends.
    go: Option<PipeWriter>,
    /// The error number of a failed execution; closes without one.
    refusal: PipeReader,
}

pub enum ChildStage {
    Pending,
    Running,
    Refused(io::Error),
    Unprepared(io::Error),
}

impl Child {
    /// Creates the child, which waits for [`Child::begin`].
    ///
    /// # Errors
    /// The kernel's error: too many processes or open files.
    pub fn new(program: &Executable, signals: &Signals) -> io::Result<Self> {
        let (wait, go) = io::pipe()?;
        let (refusal, reporter) = io::pipe()?;
        unblock(&refusal)?;
        let memory = program.memory.as_ref().map(MemoryPolicy::call);
        let environment = program.environment();
        let environment = pointers(None, &environment);
        let arguments = pointers(None, &program.arguments);
        let by_shell =
            pointers(Some([SHELL, &program.path]), program.arguments.get(1..).unwrap_or_default());
        // SAFETY: between fork and exec the child makes only async-signal-safe calls, and allocates
        // nothing.
        let pid = unsafe { libc::fork() };
        match pid {
            ..0 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: this is the child, and the pointers are of strings that live on.
                unsafe {
                    libc::close(go.as_raw_fd());
                    wait_for_the_word(wait.as_raw_fd());
                    signals.restore_for_program();
                    program.closed.iter().for_each(|stream| {
                        libc::close(*stream);
                    });
                    prepare_memory(memory.as_ref(), program.huge_pages, reporter.as_raw_fd());
                    show_files(program.files.as_ref(), reporter.as_raw_fd());
                    execute(
                        &program.path,
                        [&arguments, &by_shell],
                        &environment,
                        reporter.as_raw_fd(),
                    )
                }
            }
            pid => Ok(Child { pid, go: Some(go), refusal }),
        }
    }

    pub fn begin(&mut self) {
        // A failure means that the child has ended, which is reported as usual.
        let _ = self.go.take().map(|mut go| go.write_all(b"."));
    }

    pub fn start(&mut self) -> ChildStage {
        let mut code = [0; size_of::<i32>()];
        match self.refusal.read(&mut code) {
            Ok(length) if length == code.len() => {
                // The kernel's numbers are positive; negative ones mean failed memory settings or
                // files.
                let code = i32::from_ne_bytes(code);
                let error = io::Error::from_raw_os_error(code.abs());
                if code < 0 { ChildStage::Unprepared(error) } else { ChildStage::Refused(error) }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ChildStage::Pending,
            _ => ChildStage::Running,
        }
    }
}

fn unblock(pipe: &PipeReader) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) }).map(drop)
}

fn pointers(front: Option<[&CStr; 2]>, arguments: &[std::ffi::CString]) -> Vec<*const c_char> {
    let front = front.into_iter().flatten().map(CStr::as_ptr);
    front.chain(arguments.iter().map(|text| text.as_ptr())).chain([ptr::null()]).collect()
}

/// # Safety
/// Only in the child.
unsafe fn wait_for_the_word(wait: i32) {
    let mut word = 0u8;
    // SAFETY: `word` is one writable byte.
    while unsafe { libc::read(wait, (&raw mut word).cast(), 1) } != 1 {
        // SAFETY: the location belongs to this thread.
        if unsafe { *libc::__errno_location() } != libc::EINTR {
            // SAFETY: ends the child, whose launcher has ended or given up.
            unsafe { libc::_exit(NOT_EXECUTED) };
        }
    }
}

/// Memory policy and huge pages survive execve(2).
///
/// # Safety
/// Only in the child.
unsafe fn prepare_memory(memory: Option<&PolicyCall>, huge_pages: Option<bool>, reporter: i32) {
    let is_refused = memory.is_some_and(|call| call.make().is_err());

    if is_refused || huge_pages.is_some_and(|allowed| !allow_huge_pages(allowed)) {
        // SAFETY: as the caller promises.
        unsafe { give_up(reporter, -1) }
    }
}

/// Last: mounts would hide files that the other steps need.
///
/// # Safety
/// Only in the child.
unsafe fn show_files(files: Option<&PrivateFiles>, reporter: i32) {
    if files.is_some_and(|files| files.take().is_err()) {
        // SAFETY: as the caller promises.
        unsafe { give_up(reporter, -1) }
    }
}

/// Returns whether the kernel agreed.
fn allow_huge_pages(allowed: bool) -> bool {
    let is_forbidden = libc::c_ulong::from(!allowed);
    // SAFETY: sets an attribute of this process, and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, is_forbidden, 0, 0, 0) >= 0 }
}

/// # Safety
/// Only in the child; all vectors hold strings and end in a null pointer.
unsafe fn execute(
    path: &CStr,
    arguments: [&[*const c_char]; 2],
    environment: &[*const c_char],
    reporter: i32,
) -> ! {
    let [own, by_shell] = arguments;
    // SAFETY: as the caller promises; the error number belongs to this thread.
    unsafe {
        libc::execve(path.as_ptr(), own.as_ptr(), environment.as_ptr());
        if *libc::__errno_location() == libc::ENOEXEC {
            libc::execve(SHELL.as_ptr(), by_shell.as_ptr(), environment.as_ptr());
        }
        give_up(reporter, 1)
    }
}

/// # Safety
/// Only in the child.
unsafe fn give_up(reporter: i32, sign: i32) -> ! {
    // SAFETY: the error number belongs to this thread, and its copy outlives the write.
    unsafe {
        let code: i32 = sign * *libc::__errno_location();
        libc::write(reporter, (&raw const code).cast(), size_of::<i32>());
        libc::_exit(NOT_EXECUTED)
    }
}
