//! Control groups: their members; moving threads; removal.

use crate::Tid;
use crate::hierarchy::{line_of, line_of_v2};
use crate::layout::CpusetMounts;
use crate::root::{FileError, Root};
use std::time::Duration;

/// Attempts to empty a group. An exiting process leaves only once its memory is freed; 300 MiB took
/// most of a second on a busy computer.
const ATTEMPTS: u32 = 750;

const PAUSE: Duration = Duration::from_millis(2);

/// The file to list or add members: threads in version 1, processes in version 2.
pub fn members_file(root: &Root, group: &str) -> String {
    let tasks = format!("{group}/tasks");
    if root.has(&tasks) { tasks } else { format!("{group}/cgroup.procs") }
}

/// A group's members: threads in version 1, processes in version 2. Empty if it does not exist.
///
/// # Errors
/// [`FileError`]: the group exists but its members cannot be read.
pub fn members(root: &Root, group: &str) -> Result<Vec<Tid>, FileError> {
    match root.read(&members_file(root, group)) {
        Ok(text) => Ok(tids(&text).collect()),
        Err(error) if error.is_absent() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

pub(crate) fn tids(text: &str) -> impl Iterator<Item = Tid> {
    text.split_ascii_whitespace().filter_map(|tid| tid.parse().ok())
}

/// The parent group.
pub fn parent(group: &str) -> &str {
    group.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// This process's group in another group's hierarchy (cgroups(7), `/proc/PID/cgroup`).
pub fn of_self(root: &Root, group: &str) -> Option<String> {
    let layout = CpusetMounts::read(root);
    let text = root.read("/proc/self/cgroup").ok()?;
    let is_v2 = layout.v2.as_deref().is_some_and(|base| group.starts_with(base));
    let base = if is_v2 { layout.v2? } else { layout.v1? };
    let line = if is_v2 {
        line_of_v2(&text)
    } else {
        line_of(&text, "cpuset").filter(|(is_v2, _)| !is_v2)
    };
    line.map(|(_, path)| format!("{base}{}", path.trim_end_matches('/')))
}

/// Moves all members to the parent group and removes the group. Kills no process.
///
/// # Errors
/// The kernel's, for a group that cannot be emptied.
pub fn dissolve(root: &Root, group: &str) -> Result<(), FileError> {
    // Kernels before 6.12 dissolve a removed partition, and change masks, only later.
    let partition = format!("{group}/cpuset.cpus.partition");
    if root.has(&partition) {
        root.write(&partition, "member")?;
    }
    let upward = members_file(root, parent(group));
    for attempt in 1.. {
        // The list may become readable at the next attempt.
        match empty(root, group, &upward).and_then(|()| root.remove_folder(group)) {
            Err(error) if attempt < ATTEMPTS && !error.is_absent() => std::thread::sleep(PAUSE),
            Err(error) if error.is_absent() => break,
            other => return other,
        }
    }
    Ok(())
}

fn empty(root: &Root, group: &str, other: &str) -> Result<(), FileError> {
    for tid in members(root, group)? {
        // An exiting thread cannot be moved.
        let _ = root.write(other, &tid.to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::{with_files, write};

    #[test]
    fn group_with_unreadable_members_is_not_empty() {
        let (folder, root) = with_files(&[]);
        assert!(members(&root, "/gone").unwrap().is_empty());
        std::fs::create_dir_all(folder.path().join("group/cgroup.procs")).unwrap();
        let error = members(&root, "/group").unwrap_err();
        assert_eq!(error.source.raw_os_error(), Some(libc::EISDIR));
        write(&root, "/group/tasks", "7\n9\n");
        assert_eq!(members(&root, "/group").unwrap(), [7, 9]);
    }
}
