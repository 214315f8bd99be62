//! Who is on a cell's CPUs, or may go there.

use crate::layout;
use crate::record::Record;
use crate::root::Root;
use crate::set::CpuSet;
use crate::tasks::{self, Task};
use seatmap_host::mask::Tid;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Tells a program which cell it is in. Threads in a cell's group without it are not the cell's own.
pub const VARIABLE: &str = "SEATMAP_CELL";

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
    let counts = |task: &Task| !spared.contains(&task.pid) && !task.has_ended;
    let comes = |task: &Task| counts(task) && task.cpus().is_some_and(|cpus| cpus.meets(cell));
    let (bound, free): (Vec<Task>, Vec<Task>) =
        tasks::all(root).into_iter().filter(comes).partition(|task| task.is_bound);
    Stragglers { bound: bound.len(), free }
}

/// Whether a process was started into this cell; one whose environment nobody may read is not known to be.
#[must_use]
pub fn is_resident(root: &Root, pid: Tid, record: &Record) -> bool {
    let environment = root.read(&format!("/proc/{pid}/environ")).unwrap_or_default();
    let wanted = format!("{VARIABLE}={}", record.name);
    environment.split('\0').any(|variable| variable == wanted)
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
