//! Why a program could not be run or seated.

use seatmap_data::document::Blame;
use seatmap_os::task::{self, Family};
use std::io;

/// A program's failed start or seating.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// `/proc` is unusable.
    #[error(transparent)]
    Proc(#[from] seatmap_os::proc_mount::ProcError),
    /// A system call failed.
    #[error("cannot {what}")]
    System {
        /// The failed action.
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel forbids ptrace, or hides the threads.
    #[error("{0}")]
    Forbidden(String),
    /// The kernel refused the program.
    #[error("cannot execute {path}")]
    Execute {
        /// The program.
        path: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A process has ended, is only a thread, or needs `--force`.
    #[error("{0}")]
    Process(String),
    /// The cell's memory cannot be emptied.
    #[error(transparent)]
    CellMemory(io::Error),
    /// The process that seats the threads was killed.
    #[error(
        "the process that seats the threads was killed; the program continues, and each thread \
         keeps its CPUs"
    )]
    SupervisorKilled,
}

impl Blame for LaunchError {
    fn is_input(&self) -> bool {
        matches!(self, LaunchError::Execute { .. } | LaunchError::Process(_))
    }
}

impl LaunchError {
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| LaunchError::System { what, source }
    }

    pub(crate) fn seizing(source: io::Error) -> Self {
        if source.raw_os_error() != Some(libc::EPERM) {
            return LaunchError::System { what: "trace the program", source };
        }
        let scope =
            std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
        let tracer = Family::of(task::own_pid()).map_or(0, |family| family.tracer);
        let why = match (tracer, scope.trim()) {
            (1.., _) => "strace or a debugger already traces this program; run it without",
            (_, "2") => {
                "kernel.yama.ptrace_scope is 2; run seatmap as root of the host, or allow ptrace \
                 there: 'sysctl kernel.yama.ptrace_scope=1'"
            }
            (_, "3") => {
                "kernel.yama.ptrace_scope is 3 until the next boot; use --match alone, which needs \
                 no ptrace"
            }
            _ => {
                "most likely a container's seccomp profile; allow SYS_PTRACE, or use --match \
                 alone, which needs no ptrace"
            }
        };
        LaunchError::Forbidden(format!(
            "the kernel forbids ptrace here, which seats in order of creation need: {why}"
        ))
    }
}
