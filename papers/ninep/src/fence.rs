//! Takes a program's I/O rights: it can only compute, and read and write its open files.
//!
//! The kernel refuses all calls (seccomp(2)) except the listed ones. It can start threads, and
//! processes behind the same fence.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::collections::BTreeMap;
use std::io;

const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    libc::SYS_fcntl,
    libc::SYS_ppoll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_munlock,
    libc::SYS_membarrier,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_wait4,
    libc::SYS_exit,
    libc::SYS_exit_group,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_arch_prctl,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_prlimit64,
    libc::SYS_uname,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
];

/// A fence ready to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence(BpfProgram);

impl Fence {
    /// A fence for a running program.
    ///
    /// # Errors
    /// This kind of processor is unknown.
    pub fn new() -> io::Result<Self> {
        Fence::with(&[])
    }

    /// A fence for a process that will execute a program. The program must be static, because a
    /// loader opens libraries.
    ///
    /// # Errors
    /// As for [`Fence::new`].
    pub fn before_exec() -> io::Result<Self> {
        Fence::with(&[libc::SYS_execve])
    }

    fn with(more: &[libc::c_long]) -> io::Result<Self> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        // An empty list of conditions allows a call with any arguments.
        ALLOWED.iter().chain(more).for_each(|call| drop(rules.insert(*call, Vec::new())));
        rules.insert(libc::SYS_prctl, vec![naming_a_thread()?]);
        // With an error instead of a signal, the program can report it.
        let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
        let processor = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
        let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, processor)
            .map_err(io::Error::other)?;
        filter.try_into().map(Fence).map_err(io::Error::other)
    }

    /// Closes the fence around all threads of this process for good. It does not allocate.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn close(&self) -> Result<(), seccompiler::Error> {
        seccompiler::apply_filter_all_threads(&self.0)
    }
}

fn naming_a_thread() -> io::Result<SeccompRule> {
    let name = libc::PR_SET_NAME as u64;
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, name);
    condition.and_then(|condition| SeccompRule::new(vec![condition])).map_err(io::Error::other)
}
