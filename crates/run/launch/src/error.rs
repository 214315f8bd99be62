//! Why a program could not be run or seated.

use seatmap_data::document::Blame;
use seatmap_os::Tid;
use std::io;

/// Why a program could not be run, or seated.
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
    /// Threads cannot be stopped at their creation.
    #[error("the kernel forbids ptrace here, which seats in order of creation need: {0}")]
    Forbidden(&'static str),
    /// The kernel refused the program.
    #[error("cannot execute {path}")]
    Execute {
        /// The program.
        path: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The computer depends on it.
    #[error("process {pid} is {kind}; --force seats it anyway")]
    NeedsForce {
        /// The process.
        pid: Tid,
        /// The kind of process.
        kind: &'static str,
    },
    /// The threads of a process cannot be listed.
    #[error("the threads of process {pid} cannot be seen, so none is seated: {why}")]
    Unseen {
        /// The process.
        pid: Tid,
        /// The reason, in words.
        why: String,
    },
    /// No process has this number.
    #[error("there is no process {0}")]
    NoSuchProcess(Tid),
    /// The number belongs to a thread that does not lead its process.
    #[error(
        "{tid} is a thread of process {pid}: '--pid {pid}' seats the whole process, and '--pid \
         {pid} --match tid:{tid}=CPUS' this thread alone"
    )]
    IsThread {
        /// The thread.
        tid: Tid,
        /// Its process.
        pid: Tid,
    },
    /// The process has ended and is still listed.
    #[error("process {0} has ended (a zombie: its parent has not reaped it)")]
    HasEnded(Tid),
    /// The second process cannot be started, perhaps because of a limit on processes.
    #[error("cannot start the process that watches the program")]
    NoSupervisor(#[source] io::Error),
    /// The memory of the program's cell cannot be emptied.
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
        matches!(
            self,
            LaunchError::Execute { .. }
                | LaunchError::NoSuchProcess(_)
                | LaunchError::HasEnded(_)
                | LaunchError::IsThread { .. }
                | LaunchError::NeedsForce { .. }
        )
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
        let tracer = seatmap_os::task::Family::of(std::process::id() as Tid)
            .map_or(0, |family| family.tracer);
        LaunchError::Forbidden(match (tracer, scope.trim()) {
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
        })
    }
}
