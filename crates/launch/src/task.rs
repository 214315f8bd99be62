//! What `/proc` says of a thread.

use crate::mask::Tid;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// A thread as `/proc/TID/task/TID/stat` shows it (proc_pid_stat(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name, at most 15 bytes.
    pub name: String,
    /// The letter of its state: `R` runs, `S` sleeps, `T` is stopped, `Z` has ended.
    pub state: char,
    /// When it started, in clock ticks after the boot; tells it from an earlier thread of the same number.
    pub started_ticks: u64,
    /// The CPU that it last ran on.
    pub cpu: u32,
}

impl Task {
    /// The thread, if it is there.
    #[must_use]
    pub fn of(tid: Tid) -> Option<Self> {
        // Through its own task folder: /proc/TID/stat adds up the times of the whole process.
        let stat = fs::read(format!("/proc/{tid}/task/{tid}/stat")).ok()?;
        Task::parse(&String::from_utf8_lossy(&stat))
    }

    /// Whether it has ended, and only its parent has not asked how.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        ['Z', 'X'].contains(&self.state)
    }

    /// The name stands in parentheses and may hold some itself.
    fn parse(stat: &str) -> Option<Self> {
        let (front, back) = stat.rsplit_once(')')?;
        let name = front.split_once('(')?.1.to_owned();
        // Fields are counted from 1 in the manual, and the first of these is the third.
        let fields: Vec<&str> = back.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Task {
            name,
            state: field(3)?.chars().next()?,
            started_ticks: field(22)?.parse().ok()?,
            cpu: field(39)?.parse().ok()?,
        })
    }
}

/// What `/proc/TID/status` says of a thread's family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The process that the thread belongs to.
    pub pid: Tid,
    /// The process that created this one, or adopted it.
    pub parent: Tid,
    /// The process that traces the thread; 0 is none.
    pub tracer: Tid,
}

impl Family {
    /// The thread's, if it is there.
    #[must_use]
    pub fn of(tid: Tid) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        Some(Family { pid: field("Tgid:")?, parent: field("PPid:")?, tracer: field("TracerPid:")? })
    }
}

/// The file of the program that a process runs; `None` for kernel threads, and where nobody may know.
#[must_use]
pub fn program_file(pid: Tid) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The threads of a process, in order of their numbers, which is the order of their creation until numbers wrap.
#[must_use]
pub fn threads(pid: Tid) -> Vec<Tid> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    let mut tids: Vec<Tid> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    tids.sort_unstable();
    tids
}

/// For how long a thread has waited for a CPU that another thread had, in nanoseconds since it began
/// (`/proc/PID/schedstat`, sched-stats.rst); `None` where the kernel does not count it.
#[must_use]
pub fn waited_ns(tid: Tid) -> Option<u64> {
    let counts = fs::read_to_string(format!("/proc/{tid}/task/{tid}/schedstat")).ok()?;
    counts.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Whether any thread of a process lives.
#[must_use]
pub fn lives(pid: Tid) -> bool {
    threads(pid).into_iter().any(|tid| Task::of(tid).is_some_and(|task| !task.has_ended()))
}

/// Whether a process is one of the kernel's own threads, which have neither a program nor arguments.
#[must_use]
pub fn is_of_kernel(pid: Tid) -> bool {
    /// `PF_KTHREAD` of the kernel's `sched.h`, in the flags of proc_pid_stat(5).
    const KERNEL_THREAD: u32 = 0x0020_0000;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name, which may hold anything, the flags are the seventh field.
    let flags = stat.rsplit_once(')').and_then(|(_, back)| back.split_ascii_whitespace().nth(6)?.parse::<u32>().ok());
    flags.is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

/// Whether this is a thread of this process.
#[must_use]
pub fn is_thread_of(tid: Tid, pid: Tid) -> bool {
    fs::exists(format!("/proc/{pid}/task/{tid}")).unwrap_or(false)
}

/// The processes that these threads of a process created and that it has not outlived.
#[must_use]
pub fn children(pid: Tid, threads: &[Tid]) -> BTreeSet<Tid> {
    let of = |tid: &Tid| fs::read_to_string(format!("/proc/{pid}/task/{tid}/children")).unwrap_or_default();
    let numbers = |text: String| text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<Tid>>();
    threads.iter().flat_map(|tid| numbers(of(tid))).collect()
}

/// The number of the system call that a thread sleeps in, or `running` (proc_pid_syscall(5)); `None` where nobody may
/// know.
#[must_use]
pub fn system_call(tid: Tid) -> Option<String> {
    fs::read_to_string(format!("/proc/{tid}/syscall")).ok()?.split_ascii_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let fields = (4..=52).map(|field| field.to_string()).collect::<Vec<_>>().join(" ");
        let task = Task::parse(&format!("17 (a) R (b) S {fields}\n")).unwrap();
        assert_eq!(task, Task { name: "a) R (b".into(), state: 'S', started_ticks: 22, cpu: 39 });
        for cut in ["", "17", "17 (a", "17 (a)", "17 (a) R 1 2"] {
            assert_eq!(Task::parse(cut), None, "{cut}");
        }
    }

    #[test]
    fn this_thread_is_there() {
        let pid = std::process::id() as Tid;
        assert!(Task::of(pid).is_some());
        assert_eq!(Family::of(pid).map(|family| family.pid), Some(pid));
        assert!(waited_ns(pid).is_some() || !fs::exists("/proc/self/schedstat").unwrap());
        assert_eq!(program_file(pid), std::env::current_exe().ok());
        assert!(threads(pid).contains(&pid));
        assert_eq!((Task::of(Tid::MAX), threads(Tid::MAX).len()), (None, 0));
    }
}
