//! Control groups: their members, moving threads in and out, and removing the groups.

use crate::Tid;
use crate::layout::CpusetMounts;
use crate::root::{FileError, Root};
use std::time::Duration;

/// How often emptying a group is tried: its threads may create others meanwhile. A process that is
/// about to end cannot be moved. It leaves when its memory has been given back, which took most of
/// a second for 300 MiB on a busy computer.
const ATTEMPTS: u32 = 750;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(2);

/// The file that lists members and takes new ones: threads one by one in version 1, processes in
/// version 2.
#[must_use]
pub fn members_file(root: &Root, group: &str) -> String {
    let tasks = format!("{group}/tasks");
    if root.has(&tasks) { tasks } else { format!("{group}/cgroup.procs") }
}

/// The members of a group: threads in version 1, processes in version 2; none where the group is
/// not there.
///
/// # Errors
/// [`FileError`]: the group is there and its members cannot be read, so it may have some.
pub fn members(root: &Root, group: &str) -> Result<Vec<Tid>, FileError> {
    match root.read(&members_file(root, group)) {
        Ok(text) => Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect()),
        Err(error) if error.is_absent() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The group above.
#[must_use]
pub fn parent(group: &str) -> &str {
    group.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The group that this process is in, in the hierarchy of another group (cgroups(7),
/// `/proc/PID/cgroup`).
#[must_use]
pub fn of_self(root: &Root, group: &str) -> Option<String> {
    let layout = CpusetMounts::read(root);
    let text = root.read("/proc/self/cgroup").ok()?;
    let is_v2 = layout.v2.as_deref().is_some_and(|base| group.starts_with(base));
    let base = if is_v2 { layout.v2? } else { layout.v1? };
    text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next()?;
        let path = fields.next()?;
        let fits = if is_v2 {
            controllers.is_empty()
        } else {
            controllers.split(',').any(|name| name == "cpuset")
        };
        fits.then(|| format!("{base}{}", path.trim_end_matches('/')))
    })
}

/// Moves all members to the group above and removes the group. No process is killed.
///
/// # Errors
/// The kernel's error for a group that cannot be emptied.
pub fn dissolve(root: &Root, group: &str) -> Result<(), FileError> {
    // Kernels before 6.12 take a removed partition apart later, in their own time, and every
    // thread's mask with it.
    let partition = format!("{group}/cpuset.cpus.partition");
    if root.has(&partition) {
        root.write(&partition, "member")?;
    }
    let upward = members_file(root, parent(group));
    for attempt in 1.. {
        // A list that cannot be had now may be had at the next attempt.
        match empty(root, group, &upward).and_then(|()| root.remove_folder(group)) {
            Err(error) if attempt < ATTEMPTS && !error.is_absent() => std::thread::sleep(PAUSE),
            Err(error) if error.is_absent() => break,
            other => return other,
        }
    }
    Ok(())
}

/// Moves the members of a group to another one.
fn empty(root: &Root, group: &str, other: &str) -> Result<(), FileError> {
    for tid in members(root, group)? {
        // One that ends meanwhile cannot be moved and need not be.
        let _ = root.write(other, &tid.to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_whose_members_cannot_be_read_is_not_empty() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        assert!(members(&root, "/gone").unwrap().is_empty());
        std::fs::create_dir_all(folder.path().join("group/cgroup.procs")).unwrap();
        let error = members(&root, "/group").unwrap_err();
        assert_eq!(error.source.raw_os_error(), Some(libc::EISDIR));
        std::fs::write(folder.path().join("group/tasks"), "7\n9\n").unwrap();
        assert_eq!(members(&root, "/group").unwrap(), [7, 9]);
    }
}
