//! The threads of the computer, and where they may run.

use crate::root::{FileError, Root};
use crate::set::CpuSet;
use seatmap_host::mask::{Mask, Tid};
use std::io;

/// `PF_KTHREAD` of `include/linux/sched.h`: a thread of the kernel's.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// `PF_NO_SETAFFINITY`: the kernel bound it, and nobody else may.
const BOUND: u64 = 0x0400_0000;

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its number.
    pub tid: Tid,
    /// Its process.
    pub pid: Tid,
    /// The process that started its process, or the one that took that over when the starter ended.
    pub parent: Tid,
    /// Its session, by the process that began it.
    pub session: Tid,
    /// Its name.
    pub name: String,
    /// Whether it is the kernel's.
    pub is_kernel: bool,
    /// Whether the kernel bound it to its CPUs.
    pub is_bound: bool,
    /// Whether it has ended, and waits to be reaped.
    pub has_ended: bool,
    /// When it started, in clock ticks after the boot.
    pub started_ticks: u64,
}

impl Task {
    /// A line of `/proc/TID/stat` (proc_pid_stat(5)). The name stands in parentheses and may hold some itself.
    #[must_use]
    pub fn parse(tid: Tid, pid: Tid, stat: &str) -> Option<Self> {
        let (front, back) = stat.rsplit_once(')')?;
        let name = front.split_once('(')?.1.to_owned();
        // Fields are counted from 1 in the manual, and the first of these is the third.
        let fields: Vec<&str> = back.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let process = |field: usize| fields.get(field - 3)?.parse::<Tid>().ok();
        let flags = number(9)?;
        Some(Task {
            tid,
            pid,
            parent: process(4)?,
            session: process(6)?,
            name,
            is_kernel: flags & KERNEL_THREAD != 0,
            is_bound: flags & BOUND != 0,
            has_ended: matches!(fields.first(), Some(&("Z" | "X"))),
            started_ticks: number(22)?,
        })
    }

    /// Its folder in `/proc`.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("/proc/{}", self.tid)
    }

    /// The CPUs that it may run on; `None` where it has gone.
    #[must_use]
    pub fn cpus(&self) -> Option<CpuSet> {
        Mask::of(self.tid).ok().map(|mask| CpuSet::from(&mask.cpus()))
    }

    /// Whether it is never moved: the first process, whose threads keep the system alive, or one of these.
    #[must_use]
    pub fn is_spared(&self, spared: &[Tid]) -> bool {
        self.pid == 1 || spared.contains(&self.pid)
    }
}

/// Every thread that can be seen.
#[must_use]
pub fn all(root: &Root) -> Vec<Task> {
    let pids = root.names("/proc").into_iter().filter_map(|name| name.parse::<Tid>().ok());
    pids.flat_map(|pid| of_process(root, pid)).collect()
}

/// The threads of a process.
#[must_use]
pub fn of_process(root: &Root, pid: Tid) -> Vec<Task> {
    let tids = root.names(&format!("/proc/{pid}/task")).into_iter().filter_map(|name| name.parse().ok());
    tids.filter_map(|tid| one(root, tid, pid)).collect()
}

fn one(root: &Root, tid: Tid, pid: Tid) -> Option<Task> {
    Task::parse(tid, pid, &root.read(&format!("/proc/{pid}/task/{tid}/stat")).ok()?)
}

/// Where the thread of this folder may run, if it is still the one that started then.
pub(crate) fn affinity(root: &Root, folder: &str, started_ticks: Option<u64>) -> Result<String, FileError> {
    let tid = tid_of(folder)?;
    let stat = root.read(&format!("{folder}/stat"))?;
    let task = Task::parse(tid, tid, &stat);
    if task.is_none_or(|task| started_ticks.is_some_and(|ticks| ticks != task.started_ticks)) {
        return Err(gone(folder));
    }
    let mask = Mask::of(tid).map_err(at(folder))?;
    Ok(mask.cpus().to_string())
}

/// Lets the thread of this folder run on these CPUs.
pub(crate) fn set_affinity(folder: &str, cpus: &str) -> Result<(), FileError> {
    let set = CpuSet::of_list(cpus).ok_or_else(|| at(folder)(io::ErrorKind::InvalidData.into()))?;
    set.0.iter().copied().collect::<Mask>().give(tid_of(folder)?).map_err(at(folder))
}

pub(crate) fn tid_of(folder: &str) -> Result<Tid, FileError> {
    folder.strip_prefix("/proc/").and_then(|tid| tid.parse().ok()).ok_or_else(|| gone(folder))
}

fn gone(folder: &str) -> FileError {
    at(folder)(io::Error::from_raw_os_error(libc::ESRCH))
}

fn at(folder: &str) -> impl FnOnce(io::Error) -> FileError {
    move |source| FileError { path: folder.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_are_told_apart() {
        let stat = |flags: u64| format!("17 (ksoft) (irqd/1) S 2 0 0 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0");
        let task = |flags| Task::parse(17, 17, &stat(flags)).unwrap();
        let bound = task(69_238_848);
        assert_eq!((bound.name.as_str(), bound.started_ticks), ("ksoft) (irqd/1", 4711));
        assert_eq!((bound.parent, bound.session), (2, 0));
        assert!(bound.is_kernel && bound.is_bound && !task(4_194_304).is_kernel);
        assert_eq!(Task::parse(1, 1, "17 (cut"), None);
    }

    #[test]
    fn this_process_is_among_them() {
        let own = std::process::id() as Tid;
        let found = all(&Root::new("/"));
        let task = found.iter().find(|task| task.tid == own).unwrap();
        assert!(!task.is_kernel && task.is_spared(&[own]) && !task.is_spared(&[]));
        let folder = task.folder();
        assert!(affinity(&Root::new("/"), &folder, Some(task.started_ticks)).is_ok());
        assert!(affinity(&Root::new("/"), &folder, Some(1)).unwrap_err().is_absent(), "the number is another's now");
    }
}
