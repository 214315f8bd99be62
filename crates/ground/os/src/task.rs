//! Threads and processes, read from `/proc`.

use crate::group::tids;
use crate::proc_folder::{ProcFolder, has_gone};
use crate::root::{FileError, Root};
use crate::sched::{Stat, ThreadTimes, policy_name};
use crate::{CpuSet, Tid};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// From `/proc/PID/task/TID/stat` (proc_pid_stat(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadStat {
    /// Thread number.
    pub tid: Tid,
    /// Process number.
    pub pid: Tid,
    /// Its parent or adopter.
    pub parent: Tid,
    /// Process group.
    pub group: Tid,
    /// Session, by its leader.
    pub session: Tid,
    /// Foreground process group of its terminal; negative without one.
    pub terminal_group: Tid,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// State letter: `R` running, `S` sleeping, `T` stopped, `Z` ended.
    pub state: char,
    /// Whether it is a kernel thread.
    pub is_kernel: bool,
    /// Whether the kernel bound it to its CPUs.
    pub is_bound: bool,
    /// Start in clock ticks after the boot; identifies threads that reuse a number.
    pub started_ticks: u64,
    /// The last CPU; `None` on kernels with shorter lines.
    pub cpu: Option<u32>,
}

impl ThreadStat {
    /// Reads a thread of this computer, if it exists. Its `pid` is then its own number: [`Family`]
    /// has that of its process.
    pub fn of(tid: Tid) -> Option<Self> {
        // `/proc/TID/stat` would add up the times of the whole process.
        let stat = fs::read(format!("/proc/{tid}/task/{tid}/stat")).ok()?;
        ThreadStat::parse(tid, tid, &String::from_utf8_lossy(&stat))
    }

    /// Parses a `stat` line. The name in parentheses may contain some.
    pub fn parse(tid: Tid, pid: Tid, stat: &str) -> Option<Self> {
        let stat = Stat::parse(stat.as_bytes())?;
        Some(ThreadStat {
            tid,
            pid,
            parent: stat.parent,
            group: stat.group,
            session: stat.session,
            terminal_group: stat.terminal_group,
            name: stat.name(),
            state: char::from(stat.state),
            is_kernel: stat.is_kernel,
            is_bound: stat.is_bound,
            started_ticks: stat.started_ticks,
            cpu: stat.cpu,
        })
    }

    /// Its number and its start.
    pub fn identity(&self) -> ThreadIdentity {
        ThreadIdentity { tid: self.tid, started_ticks: self.started_ticks }
    }

    /// Its folder in `/proc`.
    pub fn folder(&self) -> String {
        format!("/proc/{}", self.tid)
    }

    /// Its affinity mask including offline CPUs; `None` if it has exited.
    pub fn cpus(&self) -> Option<CpuSet> {
        crate::affinity::whole(self.tid).ok()
    }

    /// Whether it has ended, even if not yet reaped.
    pub fn has_ended(&self) -> bool {
        ['Z', 'X'].contains(&self.state)
    }

    /// Whether it must stay, because it belongs to process 1 or these processes.
    pub fn is_spared(&self, spared: &[Tid]) -> bool {
        self.pid == 1 || spared.contains(&self.pid)
    }
}

/// A thread or process. Linux gives the number of an ended one to a new one, within seconds beside
/// programs that start many processes; the start distinguishes the two. Counts and masks of two
/// looks belong together only under the same identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadIdentity {
    /// Its number.
    pub tid: Tid,
    /// Start in clock ticks after the boot.
    pub started_ticks: u64,
}

impl ThreadIdentity {
    /// The thread or process that has this number now.
    pub fn of(tid: Tid) -> Option<Self> {
        ThreadStat::of(tid).map(|task| task.identity())
    }

    /// Whether it still has its number, even if it has ended and is not reaped.
    pub fn exists(self) -> bool {
        ThreadIdentity::of(self.tid) == Some(self)
    }
}

/// A value of each of these threads or processes, unless it has exited.
pub fn by_identity<T, C: FromIterator<(ThreadIdentity, T)>>(
    tids: impl IntoIterator<Item = Tid>,
    read: impl Fn(Tid) -> Option<T>,
) -> C {
    tids.into_iter().filter_map(|tid| Some((ThreadIdentity::of(tid)?, read(tid)?))).collect()
}

/// Every process visible to this user; [`hidden`](crate::visibility::hidden) says whether others
/// exist.
///
/// # Errors
/// [`FileError`].
pub fn processes(root: &Root) -> Result<impl Iterator<Item = Tid> + use<>, FileError> {
    Ok(root.names("/proc")?.into_iter().filter_map(|name| name.parse().ok()))
}

/// Every thread visible to this user.
///
/// # Errors
/// [`FileError`]: threads cannot be listed, although they are not hidden.
pub fn all(root: &Root) -> Result<Vec<ThreadStat>, FileError> {
    let mut tasks = Vec::new();
    for pid in processes(root)? {
        match of_process(root, pid) {
            Ok(threads) => tasks.extend(threads),
            Err(error) if error.source.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    Ok(tasks)
}

/// The threads of a process; empty if it has exited.
///
/// # Errors
/// [`FileError`]: they cannot be listed.
pub fn of_process(root: &Root, pid: Tid) -> Result<Vec<ThreadStat>, FileError> {
    let tids =
        root.names(&format!("/proc/{pid}/task"))?.into_iter().filter_map(|name| name.parse().ok());
    Ok(tids
        .filter_map(|tid| {
            ThreadStat::parse(tid, pid, &root.read(&format!("/proc/{pid}/task/{tid}/stat")).ok()?)
        })
        .collect())
}

/// The thread of a `/proc` folder; `None` if `stat` is invalid.
///
/// # Errors
/// [`FileError`]: the thread has exited.
pub fn in_folder(root: &Root, folder: &str, tid: Tid) -> Result<Option<ThreadStat>, FileError> {
    Ok(ThreadStat::parse(tid, tid, &root.read(&format!("{folder}/stat"))?))
}

/// The name of a process, at most 15 bytes (`comm`).
pub fn name(root: &Root, pid: Tid) -> Option<String> {
    root.read(&format!("/proc/{pid}/comm")).ok()
}

/// The initial environment; empty if unreadable or overwritten.
pub fn environment(root: &Root, pid: Tid) -> Vec<(String, String)> {
    let text = root.read(&format!("/proc/{pid}/environ")).unwrap_or_default();
    text.split('\0')
        .filter_map(|text| {
            text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// The command line; empty if overwritten.
pub fn arguments(root: &Root, pid: Tid) -> Vec<String> {
    let text = root.read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// The parent or adopter of a process.
pub fn parent(root: &Root, pid: Tid) -> Option<Tid> {
    let status = root.read(&format!("/proc/{pid}/status")).ok()?;
    status_field(&status, "PPid:")
}

/// Whether both have the same UTS namespace; assumed if unreadable.
pub fn shares_host_name(root: &Root, pid: Tid) -> bool {
    match (host_namespace(root, "self"), host_namespace(root, &pid.to_string())) {
        (Some(own), Some(other)) => own == other,
        _ => true,
    }
}

fn host_namespace(root: &Root, pid: &str) -> Option<PathBuf> {
    fs::read_link(root.path(&format!("/proc/{pid}/ns/uts"))).ok()
}

/// Whether a process runs the same program file as this one.
pub fn runs_this_program(root: &Root, pid: Tid) -> bool {
    program(root, "self").is_some_and(|own| program(root, &pid.to_string()) == Some(own))
}

/// The executable of a process, given by its number or `self`.
pub fn program(root: &Root, pid: &str) -> Option<PathBuf> {
    fs::read_link(root.path(&format!("/proc/{pid}/exe"))).ok()
}

/// A thread's relatives, from `/proc/TID/status`.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its process.
    pub pid: Tid,
    /// Its parent or adopter.
    pub parent: Tid,
    /// Tracing process, or 0.
    pub tracer: Tid,
}

impl Family {
    /// Reads them, if the thread exists.
    pub fn of(tid: Tid) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
        Some(Family {
            pid: status_field(&status, "Tgid:")?,
            parent: status_field(&status, "PPid:")?,
            tracer: status_field(&status, "TracerPid:")?,
        })
    }
}

fn status_field(status: &str, name: &str) -> Option<Tid> {
    status.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

/// This process's number.
pub fn own_pid() -> Tid {
    std::process::id() as Tid
}

/// The calling thread's number.
pub fn own_tid() -> Tid {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// The calling thread's number for 0, else the number.
pub(crate) fn real_tid(tid: Tid) -> Tid {
    if tid == 0 { own_tid() } else { tid }
}

/// The executable; `None` for kernel threads or if unreadable.
pub fn program_file(pid: Tid) -> Option<PathBuf> {
    program(&Root::new("/"), &pid.to_string())
}

/// A path to an executable, even of a process that sees other files, as in a container.
pub fn program_link(pid: Tid) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/exe"))
}

/// Device and inode of the executable; `None` as for [`program_file`].
pub fn program_id(pid: Tid) -> Option<(u64, u64)> {
    let file = fs::metadata(program_link(pid)).ok()?;
    Some((file.dev(), file.ino()))
}

/// Threads in order of creation until numbers wrap; empty after the process's exit.
///
/// # Errors
/// `/proc` hides the process from this user (`hidepid`), or this process may open no more files.
pub fn threads(pid: Tid) -> io::Result<Vec<Tid>> {
    match ProcFolder::open(&Root::new("/"))?.threads(pid) {
        Err(error) if has_gone(&error) && exists(pid) => {
            Err(io::Error::from_raw_os_error(libc::EACCES))
        }
        Err(error) if has_gone(&error) => Ok(Vec::new()),
        found => found,
    }
}

/// Whether a process or thread exists, even if `/proc` hides it.
pub fn exists(pid: Tid) -> bool {
    let Some(pid) =
        rustix::process::Pid::from_raw(pid).filter(|pid| pid.as_raw_nonzero().get() > 0)
    else {
        return false;
    };
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

/// Whether a thread belongs to a process. Also true if the process has exited, to be safe.
pub fn may_be_thread_of(tid: Tid, pid: Tid) -> bool {
    is_there(format!("/proc/{pid}/task/{tid}")) || !is_there(format!("/proc/{pid}"))
}

fn is_there(path: String) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Wait for busy CPUs since the thread's start, in nanoseconds (sched-stats.rst); `None` if not
/// counted.
pub fn waited_ns(tid: Tid) -> Option<u64> {
    times(tid)?.wait_ns
}

/// Run and wait time since the thread's start (`schedstat`), if counted.
pub fn times(tid: Tid) -> Option<ThreadTimes> {
    ThreadTimes::parse(&fs::read(format!("/proc/{tid}/task/{tid}/schedstat")).ok()?)
}

/// CPU time of reaped children, in seconds (`cutime` and `cstime`); 0 if unreadable.
pub fn reaped_s(pid: Tid) -> f64 {
    let line = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let ticks = Stat::parse(&line).map_or(0, |stat| stat.reaped_ticks);
    ticks as f64 / crate::boot::ticks_per_s() as f64
}

/// The real-time policy, `fifo` or `rr`, and priority.
pub fn real_time_policy(tid: Tid) -> Option<(String, u32)> {
    let line = fs::read(format!("/proc/{tid}/stat")).ok()?;
    let stat = Stat::parse(&line)?;
    let name = policy_name(stat.policy);
    ["fifo", "rr"].contains(&name.as_str()).then_some((name, stat.real_time_priority))
}

/// Whether any thread lives; assumed if they cannot be listed.
pub fn lives(pid: Tid) -> bool {
    threads(pid).map_or(true, |tids| {
        tids.into_iter().any(|tid| ThreadStat::of(tid).is_some_and(|task| !task.has_ended()))
    })
}

/// Why a process must not be seated: the computer depends on it.
pub fn vital(pid: Tid) -> Option<&'static str> {
    if pid == 1 {
        return Some("the init process");
    }
    is_of_kernel(pid).then_some("a kernel thread")
}

/// Whether this is a kernel thread.
pub fn is_of_kernel(pid: Tid) -> bool {
    ThreadStat::of(pid).is_some_and(|task| task.is_kernel)
}

/// Whether a thread belongs to an existing process.
pub fn is_thread_of(tid: Tid, pid: Tid) -> bool {
    fs::exists(format!("/proc/{pid}/task/{tid}")).unwrap_or(false)
}

/// Living children of these threads. Ended threads have none; kernels without
/// `CONFIG_PROC_CHILDREN` list none.
///
/// # Errors
/// [`FileError`]: a list exists but cannot be read.
pub fn children(root: &Root, pid: Tid, threads: &[Tid]) -> Result<BTreeSet<Tid>, FileError> {
    let mut children = BTreeSet::new();
    for tid in threads {
        match root.read(&format!("/proc/{pid}/task/{tid}/children")) {
            Ok(text) => children.extend(tids(&text)),
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(children)
}

/// Processes and their descendants, among these pairs of a parent and its child.
pub fn with_descendants(
    mut processes: BTreeSet<Tid>,
    children: impl IntoIterator<Item = (Tid, Tid)>,
) -> BTreeSet<Tid> {
    let mut others: Vec<(Tid, Tid)> = children.into_iter().collect();
    let mut count = 0;
    while count < processes.len() {
        count = processes.len();
        let new = others.extract_if(.., |(parent, _)| processes.contains(parent));
        let new: Vec<Tid> = new.map(|(_, child)| child).collect();
        processes.extend(new);
    }
    processes
}

/// The CPU time of a thread in user mode, in clock ticks, which the kernel samples.
pub fn user_ticks(tid: Tid) -> Option<u64> {
    let line = fs::read(format!("/proc/{tid}/task/{tid}/stat")).ok()?;
    Stat::parse(&line).map(|stat| stat.user_ticks)
}

/// The number of the system call in which a thread sleeps, or `running` (proc_pid_syscall(5));
/// `None` if unreadable.
pub fn system_call(tid: Tid) -> Option<String> {
    fs::read_to_string(format!("/proc/{tid}/syscall"))
        .ok()?
        .split_ascii_whitespace()
        .next()
        .map(str::to_owned)
}

/// The file of the code that called the kernel, if the thread sleeps there; `None` if it runs, or
/// if its calls or mappings are unreadable.
pub fn sleeps_in_file(tid: Tid) -> Option<PathBuf> {
    let call = fs::read_to_string(format!("/proc/{tid}/syscall")).ok()?;
    // The last field is the instruction pointer.
    let pointer = call.split_ascii_whitespace().last()?.strip_prefix("0x")?;
    let pointer = u64::from_str_radix(pointer, 16).ok()?;
    let maps = fs::read_to_string(format!("/proc/{tid}/maps")).ok()?;
    maps.lines().find_map(|line| mapped_file(line, pointer))
}

/// The file of a line of `maps` (proc_pid_maps(5)) that contains this address.
fn mapped_file(line: &str, address: u64) -> Option<PathBuf> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let file = rest.find('/').map(|at| PathBuf::from(&rest[at..]))?;
    (start..end).contains(&address).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::{with_files, write};

    fn stat(name: &str, flags: u64) -> String {
        format!("17 ({name}) S 2 3 4 0 9 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0")
    }

    #[test]
    fn sleeping_thread_is_found_in_its_library() {
        let line = "7f01-7f0a r-xp 00001000 08:01 173 /usr/lib/libgomp.so.1 (deleted)";
        let file = |address| mapped_file(line, address);
        assert_eq!(file(0x7f05), Some(PathBuf::from("/usr/lib/libgomp.so.1 (deleted)")));
        assert_eq!(
            (file(0x7f0a), mapped_file("7f01-7f0a rw-p 0 0 0 [heap]", 0x7f05)),
            (None, None)
        );
        let mut sleeper = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let tid = Tid::try_from(sleeper.id()).unwrap();
        let mut found = None;
        while found.is_none() {
            found = sleeps_in_file(tid).filter(|file| file.to_string_lossy().contains("libc"));
            std::thread::yield_now();
        }
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }

    #[test]
    fn kernel_threads_are_recognised() {
        let task = |flags| ThreadStat::parse(17, 17, &stat("ksoft) (irqd/1", flags)).unwrap();
        let bound = task(69_238_848);
        assert_eq!((bound.name.as_str(), bound.started_ticks), ("ksoft) (irqd/1", 4711));
        assert_eq!((bound.parent, bound.group, bound.session, bound.cpu), (2, 3, 4, None));
        assert!(bound.is_kernel && bound.is_bound && !task(4_194_304).is_kernel);
        assert_eq!(ThreadStat::parse(1, 1, "17 (cut"), None);
    }

    #[test]
    fn own_process_is_listed() {
        let own = std::process::id() as Tid;
        let found = all(&Root::new("/")).unwrap();
        let task = found.iter().find(|task| task.tid == own).unwrap();
        assert!(!task.is_kernel && task.is_spared(&[own]) && !task.is_spared(&[]));
        assert_eq!(ThreadStat::of(own).map(|task| task.started_ticks), Some(task.started_ticks));
    }

    #[test]
    fn own_thread_is_readable() {
        let pid = std::process::id() as Tid;
        assert!(ThreadStat::of(pid).is_some_and(|task| task.cpu.is_some()));
        assert_eq!(Family::of(pid).map(|family| family.pid), Some(pid));
        assert!(waited_ns(pid).is_some() || !fs::exists("/proc/self/schedstat").unwrap());
        assert_eq!(program_file(pid), std::env::current_exe().ok());
        assert!(threads(pid).unwrap().contains(&pid));
        assert_eq!((ThreadStat::of(Tid::MAX), threads(Tid::MAX).unwrap().len()), (None, 0));
        let own = ThreadIdentity::of(pid).unwrap();
        assert!(own.exists() && !ThreadIdentity { started_ticks: 0, ..own }.exists());
        let found: Vec<(ThreadIdentity, u64)> = by_identity([pid, Tid::MAX], |_| Some(7));
        assert_eq!(found, [(own, 7)]);
    }

    #[test]
    fn unlistable_threads_are_an_error() {
        let (folder, root) = with_files(&[("/proc", "")]);
        assert!(all(&root).is_err() && processes(&root).is_err());
        fs::remove_file(folder.path().join("proc")).unwrap();
        write(&root, "/proc/7/task", "");
        assert!(all(&root).is_err() && of_process(&root, 7).is_err());
        fs::remove_file(folder.path().join("proc/7/task")).unwrap();
        assert_eq!((all(&root).unwrap(), of_process(&root, 7).unwrap()), (Vec::new(), Vec::new()));
    }

    #[test]
    fn unlistable_children_are_an_error() {
        let (folder, root) = with_files(&[("/proc/7/task/7/children", "8 9 ")]);
        assert_eq!(children(&root, 7, &[7, 77]).unwrap(), BTreeSet::from([8, 9]));
        fs::create_dir_all(folder.path().join("proc/7/task/17/children")).unwrap();
        assert!(children(&root, 7, &[7, 17]).is_err());
    }
}
