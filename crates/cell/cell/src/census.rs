//! Threads that run, or may run, on a cell's CPUs.

use crate::CellRecord;
use seatmap_os::task::ThreadStat;
use seatmap_os::{CpuSet, FileError, Root, Tid, attribute, task};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The environment variable with a program's cell. Threads in its group without it do not belong to
/// the cell.
pub const VARIABLE: &str = "SEATMAP_CELL";

/// Reused numbers could form a circle.
const LONGEST_LINE: usize = 64;

/// The attribute of a control group with the path of its journal.
const NOTE: &str = "seatmap.cell";

/// Prefix of helpers' names, such as guardians (`prctl(PR_SET_NAME)`).
const HELPERS: &str = "seatmap-";

const PROGRAMS: &[u8] = b"seatmap";

/// Threads outside a cell that may run on its CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stragglers {
    /// Threads bound there by the kernel.
    pub bound: usize,
    /// All other threads.
    pub free: Vec<ThreadStat>,
}

impl Stragglers {
    /// Unbound threads' processes, by number and name.
    pub fn processes(&self, root: &Root) -> Vec<String> {
        let pids: BTreeSet<Tid> = self.free.iter().map(|task| task.pid).collect();
        pids.into_iter()
            .map(|pid| match task::name(root, pid) {
                Some(name) => format!("{pid} {name}"),
                None => pid.to_string(),
            })
            .collect()
    }
}

/// Finds the threads outside a cell that may run on its CPUs.
///
/// # Errors
/// [`FileError`]: the threads cannot be listed.
pub fn stragglers(root: &Root, cell: &CpuSet, spared: &[Tid]) -> Result<Stragglers, FileError> {
    let (bound, free): (Vec<ThreadStat>, Vec<ThreadStat>) = task::all(root)?
        .into_iter()
        .filter(|task| !spared.contains(&task.pid) && !task.has_ended())
        .filter(|task| task.cpus().is_some_and(|cpus| cpus.meets(cell)))
        .partition(|task| task.is_bound);
    Ok(Stragglers { bound: bound.len(), free })
}

/// Whether a thread is a Seatmap helper, such as any cell's guardian.
pub fn is_helper(root: &Root, task: &ThreadStat) -> bool {
    task.name.starts_with(HELPERS) && runs_seatmap(root, task.pid)
}

/// Whether a process runs this program or one installed with it (same folder and prefix), with the
/// same run folder.
fn runs_seatmap(root: &Root, pid: Tid) -> bool {
    let own = task::program(root, "self");
    let other = task::program(root, &pid.to_string());
    let (Some(own), Some(other)) = (own, other) else { return false };
    let name = other.file_name().unwrap_or_default().as_encoded_bytes();
    own == other || own.parent() == other.parent() && name.starts_with(PROGRAMS)
}

/// Whether a process was started in this cell: its or an ancestor's environment names the cell, or
/// Seatmap is its parent.
pub fn is_resident(root: &Root, pid: Tid, record: &CellRecord) -> bool {
    let variable = (VARIABLE.to_owned(), record.name.to_string());
    parent(root, pid).is_some_and(|pid| runs_seatmap(root, pid))
        || line_of(root, pid).any(|pid| task::environment(root, pid).contains(&variable))
}

/// Whether a process's origin is unknown: it is younger than the cell, without a readable
/// environment or living parent, like a daemon started in a cell.
pub fn may_be_resident(root: &Root, pid: Tid, began_ticks: Option<u64>) -> bool {
    process(root, pid).is_some_and(|process| {
        let is_younger = began_ticks.is_some_and(|began| process.started_ticks >= began);
        process.parent <= 1 && is_younger
    }) && task::environment(root, pid).is_empty()
}

/// A process and its ancestors, without process 1.
fn line_of(root: &Root, pid: Tid) -> impl Iterator<Item = Tid> {
    std::iter::successors(Some(pid), |pid| parent(root, *pid)).take(LONGEST_LINE)
}

fn process(root: &Root, pid: Tid) -> Option<ThreadStat> {
    task::in_folder(root, &format!("/proc/{pid}"), pid).ok()?
}

fn parent(root: &Root, pid: Tid) -> Option<Tid> {
    Some(process(root, pid)?.parent).filter(|parent| *parent > 1)
}

/// Records a control group's journal in the group, if the file system can.
pub fn mark(root: &Root, group: &str, journal: &Path) {
    // This may fail: the journal lists the group too.
    let _ = attribute::set(&root.path(group), NOTE, journal.as_os_str().as_bytes());
}

/// A control group's recorded journal, if it still exists.
pub fn journal_of(root: &Root, group: &str) -> Option<PathBuf> {
    attribute::get(&root.path(group), NOTE)
        .map(|note| PathBuf::from(OsString::from_vec(note)))
        .find(|journal| journal.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> CellRecord {
        CellRecord {
            format: crate::record::FORMAT.into(),
            name: "quiet".parse().unwrap(),
            cpus: vec![1],
            backend: crate::CellBackend::V1Exclusive,
            degraded: Vec::new(),
            noise_before: None,
            noise_after: None,
            state: crate::CellState::Ready,
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
    fn members_are_found_even_without_their_environment() {
        let folder = tempfile::tempdir().unwrap();
        let process = |pid: &str, parent: u32, environment: &str, program: &str| {
            let own = folder.path().join("proc").join(pid);
            // Its number is its start in ticks.
            let started = pid.parse::<u64>().unwrap_or(0);
            let rest = format!("1 1 0 -1 0{} {started} {}", " 0".repeat(12), "0 ".repeat(20));
            let stat = format!("{pid} (x) S {parent} {rest}");
            seatmap_needs::plant(&own, &[("environ", environment), ("stat", &stat)]);
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
        process("19", 1, "", "/daemon");
        process("20", 1, "HOME=/", "/service");
        process("21", 1, "daemon: waits\0\0", "/daemon");
        process("22", 20, "", "/child");
        process("24", 1, "", "/seatmap-other");
        process("25", 24, "", "/env");
        process("26", 1, "", "/other/seatmap");
        process("27", 26, "", "/env");
        let of_ours: Vec<Tid> =
            (24..=27).filter(|pid| is_resident(&root, *pid, &record())).collect();
        assert_eq!(of_ours, [25], "a program beside this one started it");
        let unknown = |began| {
            (10..=23).filter(|pid| may_be_resident(&root, *pid, began)).collect::<Vec<Tid>>()
        };
        assert_eq!(unknown(Some(19)), [19, 21]);
        assert_eq!(unknown(Some(20)), [21], "one that is older was moved in");
        assert_eq!(unknown(None), Vec::<Tid>::new());
    }

    #[test]
    fn group_records_a_journal_while_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("group");
        let journal = folder.path().join("quiet.journal");
        std::fs::create_dir(&group).unwrap();
        std::fs::write(&journal, "").unwrap();
        let root = Root::new(folder.path());
        assert_eq!(journal_of(&root, "/group"), None);
        mark(&root, "/group", &journal);
        match journal_of(&root, "/group") {
            None => {
                return seatmap_needs::skipped!(
                    "no extended attributes in {}",
                    folder.path().display()
                );
            }
            found => assert_eq!(found, Some(journal.clone())),
        }
        std::fs::remove_file(journal).unwrap();
        assert_eq!(journal_of(&root, "/group"), None);
    }
}
