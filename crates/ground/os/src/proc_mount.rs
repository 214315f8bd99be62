//! Whether `/proc` and `/sys` can be trusted.
//!
//! Every command checks this first: a missing `/proc` looks like a computer without programs, and
//! that of another PID namespace has other programs under this one's numbers.

use crate::bytes::{small, value, words};
use crate::mounts::{PROC_SUPER_MAGIC, SYSFS_MAGIC, is_of_kind};
use crate::{Root, Tid, rights};
use std::fs;

/// Required files. `subset=pid` hides the first; containers may lack `/sys`.
const OF_COMPUTER: [(&str, &str); 2] =
    [("/proc/stat", "/proc is mounted with subset=pid"), (CPU_FOLDER, "/sys is not mounted")];

const CPU_FOLDER: &str = "/sys/devices/system/cpu";

/// Why `/proc` or `/sys` cannot be trusted.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ProcError {
    /// `proc` is not mounted there.
    #[error(
        "/proc is not mounted here, so no program is visible; run 'mount -t proc proc /proc' {} \
         (in a chroot: inside it)",
        rights::as_root()
    )]
    Absent,
    /// It belongs to another PID namespace.
    #[error(
        "/proc belongs to another PID namespace, so its process IDs are wrong here (this process \
         is {pid}); start the namespace with 'unshare --pid --fork --mount-proc', or run Seatmap \
         outside it"
    )]
    Foreign {
        /// This process's number in its own namespace.
        pid: Tid,
    },
    /// Files about the computer are missing.
    #[error(
        "{file} is missing, probably because {reason}; run this with all of /proc and /sys mounted"
    )]
    Partial {
        /// File.
        file: &'static str,
        /// Usual reason.
        reason: &'static str,
    },
    /// Another file system is mounted at `/sys`.
    #[error(
        "/sys is not the kernel's sysfs, so its files may describe any computer; run 'mount -t \
         sysfs sysfs /sys' first"
    )]
    ForeignSys,
}

/// Checks that `/proc` belongs to this process's PID namespace.
///
/// # Errors
/// [`ProcError::Absent`] and [`ProcError::Foreign`].
pub fn check(root: &Root) -> Result<(), ProcError> {
    let pid = rustix::process::getpid().as_raw_nonzero().get();
    if !root.is_this_computer() {
        // Test files have no processes.
        return if root.has("/proc") { Ok(()) } else { Err(ProcError::Absent) };
    }
    if !is_of_kind(root, "/proc", PROC_SUPER_MAGIC) {
        return Err(ProcError::Absent);
    }
    // The link is missing if this process is not in that namespace.
    let own =
        fs::read_link(root.path("/proc/self")).map(|link| link.to_string_lossy().into_owned());
    let status = root.read("/proc/self/status").unwrap_or_default();
    if is_own(pid, own.as_deref().ok(), &status) { Ok(()) } else { Err(ProcError::Foreign { pid }) }
}

/// Like [`check`], and checks the files about the whole computer.
///
/// # Errors
/// [`ProcError`].
pub fn check_computer(root: &Root) -> Result<(), ProcError> {
    check(root)?;
    if is_sys_foreign(root) {
        return Err(ProcError::ForeignSys);
    }
    match OF_COMPUTER.into_iter().find(|(file, _)| !root.has(file)) {
        Some((file, reason)) => Err(ProcError::Partial { file, reason }),
        None => Ok(()),
    }
}

/// Whether `/sys` describes CPUs but is not the kernel's.
fn is_sys_foreign(root: &Root) -> bool {
    root.is_this_computer() && root.has(CPU_FOLDER) && !is_of_kind(root, "/sys", SYSFS_MAGIC)
}

/// Warns of a missing or foreign `/sys`, for work that can do without it.
pub fn sys_remark(root: &Root) -> Option<&'static str> {
    if is_sys_foreign(root) {
        return Some(
            "/sys is not the kernel's sysfs, so its cores, caches, NUMA nodes and clocks may be \
             those of any computer",
        );
    }
    (!root.has(CPU_FOLDER)).then_some(
        "/sys is not mounted here, so cores, caches, NUMA nodes and clocks are unknown; each CPU \
         counts as one core",
    )
}

/// `NSpid` lists numbers from the mount's namespace inwards, so there must be just one.
fn is_own(pid: Tid, link: Option<&str>, status: &str) -> bool {
    let numbers = value(status.as_bytes(), b"NSpid").map(|numbers| words(numbers).count());
    let named = link
        .and_then(|link| small::<u32>(link.as_bytes()))
        .and_then(|number| Tid::try_from(number).ok());
    named == Some(pid) && numbers.is_none_or(|numbers| numbers == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::{with_files, write};

    #[test]
    fn proc_of_another_namespace_is_recognised() {
        assert!(is_own(7, Some("7"), "NSpid:\t7\n") && is_own(7, Some("7"), "Pid:\t7\n"));
        assert!(!is_own(7, Some("4711"), "NSpid:\t4711\t7\n"), "an outer namespace");
        assert!(!is_own(7, Some("7"), "NSpid:\t7\t7\n"), "the same number by chance");
        assert!(!is_own(7, None, ""), "an inner namespace, or a sibling's");
    }

    #[test]
    fn missing_proc_files_are_named() {
        let (_folder, root) = with_files(&[]);
        assert_eq!(check(&root), Err(ProcError::Absent));
        root.make_folder("/proc").unwrap();
        let missing = |root: &Root| match check_computer(root) {
            Err(ProcError::Partial { file, .. }) => Some(file),
            _ => None,
        };
        assert_eq!((check(&root), missing(&root)), (Ok(()), Some("/proc/stat")));
        write(&root, "/proc/stat", "");
        assert_eq!(missing(&root), Some(CPU_FOLDER));
        assert!(sys_remark(&root).is_some_and(|remark| remark.starts_with("/sys is not mounted")));
        fs::create_dir_all(root.path("/sys/devices/system/cpu")).unwrap();
        assert_eq!((check_computer(&root), sys_remark(&root)), (Ok(()), None));
        assert_eq!(check(&Root::new("/")), Ok(()));
    }
}
