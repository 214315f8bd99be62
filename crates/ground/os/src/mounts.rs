//! This process's mounts, from `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

use crate::bytes::{lines, unescaped, words};
use crate::rights;
use crate::root::Root;
use std::path::Path;

/// From `include/uapi/linux/magic.h`.
pub(crate) const CGROUP_SUPER_MAGIC: u64 = 0x0027_e0eb;
pub(crate) const CGROUP2_SUPER_MAGIC: u64 = 0x6367_7270;
pub(crate) const PROC_SUPER_MAGIC: u64 = 0x9fa0;
pub(crate) const SYSFS_MAGIC: u64 = 0x6265_6572;

/// One mount.
#[derive(Debug, PartialEq)]
pub struct Mount {
    /// Mounted folder of the file system; `/` for all of it.
    pub root: String,
    /// Mount point.
    pub folder: String,
    /// Type of file system: `proc`, `cgroup2`.
    pub kind: String,
    /// File system options; version 1 control groups list controllers.
    pub options: Vec<String>,
    /// Whether the mount or the file system is read-only.
    pub is_read_only: bool,
}

impl Mount {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut front = words(line).skip(3);
        let root = front.next()?;
        let folder = front.next()?;
        let of_mount = front.next()?;
        // A hyphen ends the optional fields.
        let mut back = front.skip_while(|word| *word != b"-").skip(1);
        let kind = back.next()?;
        let _source = back.next()?;
        let options = back.next().unwrap_or_default();
        let is_read_only = [of_mount, options]
            .iter()
            .any(|all| all.split(|byte| *byte == b',').any(|one| one == b"ro"));
        let options = options.split(|byte| *byte == b',').map(unescaped).collect();
        Some(Mount {
            root: unescaped(root),
            folder: unescaped(folder),
            kind: unescaped(kind),
            options,
            is_read_only,
        })
    }
}

/// The mounts in order of creation; empty if unreadable.
pub fn all(root: &Root) -> Vec<Mount> {
    let text = root.read("/proc/self/mountinfo").unwrap_or_default();
    lines(text.as_bytes()).filter_map(Mount::parse).collect()
}

/// Whether a control group mount is visible: `mountinfo` also lists covered ones.
pub fn is_on_top(root: &Root, mount: &Mount) -> bool {
    let magic = match mount.kind.as_str() {
        "cgroup" => CGROUP_SUPER_MAGIC,
        "cgroup2" => CGROUP2_SUPER_MAGIC,
        _ => return true,
    };
    // Test files are on another file system.
    !root.is_this_computer() || is_of_kind(root, &mount.folder, magic)
}

/// Whether a folder's file system has this number in `statfs`.
pub(crate) fn is_of_kind(root: &Root, folder: &str, magic: u64) -> bool {
    rustix::fs::statfs(root.path(folder))
        .is_ok_and(|found| u64::try_from(found.f_type) == Ok(magic))
}

/// Whether programs cannot run from this folder's file system (`noexec`).
pub fn forbids_programs(folder: &Path) -> bool {
    rustix::fs::statvfs(folder)
        .is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC))
}

/// Whether a file is not writable here: its mount is read-only, or the kernel refuses root.
pub fn is_read_only(root: &Root, path: &str) -> bool {
    let mounts = all(root);
    // The innermost mount has the file; of two on one folder, the later.
    let innermost = mounts
        .iter()
        .filter(|mount| holds(path, &mount.folder))
        .max_by_key(|mount| mount.folder.len());
    innermost.is_some_and(|mount| mount.is_read_only) || rights::is_closed_to_root(root, path)
}

fn holds(path: &str, folder: &str) -> bool {
    // A container may mount a single file.
    folder == "/" || below(path, folder).is_some()
}

/// The rest of a path in or below a folder.
pub(crate) fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::with_files;
    use proptest::prelude::*;

    #[test]
    fn optional_fields_are_skipped() {
        let line = b"36 35 98:0 /mnt1 /my\\040folder rw,noatime master:1 shared:2 - cgroup cgroup rw,cpu,cpuacct";
        let mount = Mount::parse(line).unwrap();
        assert_eq!(
            (mount.root.as_str(), mount.folder.as_str(), mount.kind.as_str()),
            ("/mnt1", "/my folder", "cgroup")
        );
        assert_eq!(mount.options, ["rw", "cpu", "cpuacct"]);
        assert!(!mount.is_read_only);
        for line in
            ["1 2 0:3 / /m ro - cgroup2 none rw", "1 2 0:3 / /m rw - cgroup2 none ro,nsdelegate"]
        {
            assert!(Mount::parse(line.as_bytes()).unwrap().is_read_only, "{line}");
        }
        assert_eq!(Mount::parse(b"36 35 98:0 / /mnt rw"), None);
        assert!(
            all(&Root::new("/"))
                .iter()
                .any(|mount| mount.folder == "/proc" && mount.kind == "proc")
        );
    }

    #[test]
    fn noexec_is_detected_for_programs() {
        let own = std::env::current_exe().unwrap();
        assert!(!forbids_programs(own.parent().unwrap()));
        let proc = all(&Root::new("/")).into_iter().rfind(|mount| mount.folder == "/proc").unwrap();
        let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let line = text.lines().rfind(|line| line.contains(" /proc ") && line.contains(&proc.kind));
        assert_eq!(forbids_programs(Path::new("/proc")), line.unwrap().contains("noexec"));
        assert!(!forbids_programs(Path::new("/nowhere/at/all")));
    }

    #[test]
    fn file_belongs_to_its_innermost_mount() {
        let mounts = "1 0 0:1 / / rw - ext4 none rw\n2 1 0:2 / /a rw - tmpfs none rw\n\
            3 2 0:3 /b /a/b ro - tmpfs none rw\n";
        let (_folder, root) = with_files(&[("/proc/self/mountinfo", mounts)]);
        let found = ["/a/b", "/a/b/c", "/a/bc", "/x"].map(|path| is_read_only(&root, path));
        assert_eq!(found, [true, true, false, false], "a file that is mounted is one");
    }

    proptest! {
        #[test]
        fn parser_survives_any_bytes(line: Vec<u8>) {
            let _ = Mount::parse(&line);
        }
    }
}
