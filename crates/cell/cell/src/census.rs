//! Who is on a cell's CPUs, or may go there.

use crate::layout;
use crate::record::Record;
use seatmap_os::CpuSet;
use seatmap_os::Tid;
use seatmap_os::root::Root;
use seatmap_os::task;
use seatmap_os::task::Task;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Tells a program which cell it is in. Threads in a cell's group without it are not the cell's own.
pub const VARIABLE: &str = "SEATMAP_CELL";

/// Processes that are looked at above one: numbers that come again while they are read could go round.
const LONGEST_LINE: usize = 64;

/// The attribute by which a control group remembers whose it is: the journal that knows of it.
const ATTRIBUTE: [&CStr; 2] = [c"user.seatmap.cell", c"trusted.seatmap.cell"];

/// Threads that may run on a cell's CPUs though they are none of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stragglers {
    /// How many the kernel bound there.
    pub bound: usize,
    /// Those that it did not.
    pub free: Vec<Task>,
}

impl Stragglers {
    /// The processes of those that the kernel did not bind, by number and name.
    #[must_use]
    pub fn processes(&self, root: &Root) -> Vec<String> {
        let pids: BTreeSet<Tid> = self.free.iter().map(|task| task.pid).collect();
        let name = |pid: Tid| root.read(&format!("/proc/{pid}/comm")).map_or(String::new(), |name| format!(" {name}"));
        pids.into_iter().map(|pid| format!("{pid}{}", name(pid))).collect()
    }
}

/// Finds them.
#[must_use]
pub fn stragglers(root: &Root, cell: &CpuSet, spared: &[Tid]) -> Stragglers {
    let counts = |task: &Task| !spared.contains(&task.pid) && !task.has_ended();
    let comes = |task: &Task| counts(task) && task.cpus().is_some_and(|cpus| cpus.meets(cell));
    let (bound, free): (Vec<Task>, Vec<Task>) =
        task::all(root).into_iter().filter(comes).partition(|task| task.is_bound);
    Stragglers { bound: bound.len(), free }
}

/// Whether a process was started into this cell: it says so itself, or one that it descends from does, or it was Seatmap that
/// started it. One whose environment nobody may read is not known to be, nor one that has neither environment nor parents.
#[must_use]
pub fn is_resident(root: &Root, pid: Tid, record: &Record) -> bool {
    let wanted = format!("{VARIABLE}={}", record.name);
    let says_so = |pid: &Tid| {
        let environment = root.read(&format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split('\0').any(|variable| variable == wanted)
    };
    let program = |pid: &str| fs::read_link(root.path(&format!("/proc/{pid}/exe"))).ok();
    let starter = parent(root, pid).and_then(|pid| program(&pid.to_string()));
    (starter.is_some() && starter == program("self")) || line_of(root, pid).any(|pid| says_so(&pid))
}

/// A process and those that it descends from, but for the first.
fn line_of(root: &Root, pid: Tid) -> impl Iterator<Item = Tid> {
    std::iter::successors(Some(pid), |pid| parent(root, *pid)).take(LONGEST_LINE)
}

fn parent(root: &Root, pid: Tid) -> Option<Tid> {
    let status = root.read(&format!("/proc/{pid}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    (parent > 1).then_some(parent)
}

/// The group that this process is in, in the hierarchy of another group.
#[must_use]
pub fn group_of_self(root: &Root, group: &str) -> Option<String> {
    let layout = layout::Layout::read(root);
    let text = root.read("/proc/self/cgroup").ok()?;
    let is_v2 = layout.v2.as_deref().is_some_and(|base| group.starts_with(base));
    let base = if is_v2 { layout.v2? } else { layout.v1? };
    let own = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let fits = if is_v2 { controllers.is_empty() } else { controllers.split(',').any(|name| name == "cpuset") };
        fits.then(|| format!("{base}{}", path.trim_end_matches('/')))
    };
    text.lines().find_map(own)
}

/// Has a control group remember whose it is, where its file system can.
pub fn mark(root: &Root, group: &str, journal: &Path) {
    let Ok(path) = CString::new(root.path(group).as_os_str().as_bytes()) else { return };
    let value = journal.as_os_str().as_bytes();
    let set = |name: &CStr| {
        // SAFETY: both texts end in a zero byte, and the value is as long as is said.
        unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0) == 0 }
    };
    // No attribute is no loss: the journal knows the group as well.
    let _ = ATTRIBUTE.into_iter().any(set);
}

/// The journal that knows of a control group, if the group remembers and the journal is still there.
#[must_use]
pub fn journal_of(root: &Root, group: &str) -> Option<PathBuf> {
    let path = CString::new(root.path(group).as_os_str().as_bytes()).ok()?;
    let mut value = vec![0_u8; libc::PATH_MAX as usize];
    let mut get = |name: &CStr| {
        // SAFETY: both texts end in a zero byte, and the buffer is as long as is said.
        let length = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), value.as_mut_ptr().cast(), value.len()) };
        let path = value.get(..usize::try_from(length).ok()?)?;
        Some(PathBuf::from(OsStr::from_bytes(path))).filter(|journal| journal.is_file())
    };
    ATTRIBUTE.into_iter().find_map(&mut get)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            format: crate::record::FORMAT.into(),
            name: "quiet".parse().unwrap(),
            cpus: vec![1],
            backend: crate::Backend::V1Exclusive,
            degraded: Vec::new(),
            noise_before: None,
            noise_after: None,
            state: crate::State::Ready,
            group: None,
            irqs_left: Vec::new(),
            kernel_threads_left: 0,
            threads_left: 0,
            processes_left: Vec::new(),
            memory: None,
            expires_s: None,
        }
    }

    #[test]
    fn who_was_run_in_a_cell_is_known_also_without_his_environment() {
        let folder = tempfile::tempdir().unwrap();
        let process = |pid: &str, parent: u32, environment: &str, program: &str| {
            let own = folder.path().join("proc").join(pid);
            fs::create_dir_all(&own).unwrap();
            fs::write(own.join("environ"), environment).unwrap();
            fs::write(own.join("status"), format!("Name:\tx\nPPid:\t{parent}\n")).unwrap();
            std::os::unix::fs::symlink(program, own.join("exe")).unwrap();
        };
        process("self", 9, "", "/seatmap");
        process("10", 1, "HOME=/", "/seatmap");
        process("11", 10, "", "/env");
        process("12", 1, "A=1\0SEATMAP_CELL=quiet\0", "/sh");
        process("13", 12, "", "/env");
        process("14", 13, "SEATMAP_CELL=other", "/sh");
        process("15", 1, "SEATMAP_CELL=quieter", "/sh");
        process("16", 11, "", "/sh");
        process("17", 17, "", "/sh");
        let root = Root::new(folder.path());
        let known: Vec<Tid> = (10..=18).filter(|pid| is_resident(&root, *pid, &record())).collect();
        assert_eq!(known, [11, 12, 13, 14]);
    }

    #[test]
    fn a_group_remembers_a_journal_while_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let (group, journal) = (folder.path().join("group"), folder.path().join("quiet.journal"));
        std::fs::create_dir(&group).unwrap();
        std::fs::write(&journal, "").unwrap();
        let root = Root::new(folder.path());
        assert_eq!(journal_of(&root, "/group"), None);
        mark(&root, "/group", &journal);
        match journal_of(&root, "/group") {
            None => return eprintln!("skipped: no extended attributes in {}", folder.path().display()),
            found => assert_eq!(found, Some(journal.clone())),
        }
        std::fs::remove_file(journal).unwrap();
        assert_eq!(journal_of(&root, "/group"), None);
    }
}
