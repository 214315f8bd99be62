//! Rights that root can lack: root of a user namespace is an ordinary user to the kernel's files,
//! and one without capabilities may open some of them only (user_namespaces(7), capabilities(7)).

use crate::root::Root;
use crate::{Tid, visibility};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use std::io;
use std::os::unix::fs::MetadataExt;

/// The words for a user who may do what this one may not: `as root`, or `as root of the host` where
/// this process runs as root already.
#[must_use]
pub fn as_root() -> &'static str {
    if is_root() { "as root of the host" } else { "as root" }
}

/// The way out behind an error by which the kernel denies something to this user; empty for any
/// other error.
#[must_use]
pub fn way_out(error: &io::Error) -> &'static str {
    match (error.raw_os_error().map(Errno::from_raw_os_error), is_root()) {
        (Some(Errno::PERM | Errno::ACCESS), true) => " (run it as root of the host)",
        (Some(Errno::PERM | Errno::ACCESS), false) => " (run it as root)",
        _ => "",
    }
}

/// Somebody who may do what root of this container or user namespace may not.
#[must_use]
pub fn whom_to_ask(root: &Root) -> &'static str {
    if visibility::is_in_user_namespace(root) {
        "root of the host"
    } else {
        "whoever started this container"
    }
}

/// Whether this process runs as root, of a user namespace at least.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether the kernel refuses root to write a file. Of another user nothing is said: a command that
/// root can type is of use to that one. A `*` in the path stands for the first of several files.
#[must_use]
pub fn is_closed_to_root(root: &Root, path: &str) -> bool {
    let path = root.path(&path.replace('*', "0"));
    let refusals = [Errno::ACCESS, Errno::PERM, Errno::ROFS];
    is_root()
        && accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS)
            .is_err_and(|error| refusals.contains(&error))
}

/// Whether a thread belongs to a user that this user namespace does not know, so that its root may
/// change nothing about it.
#[must_use]
pub fn is_of_unknown_user(root: &Root, tid: Tid) -> bool {
    std::fs::metadata(root.path(&format!("/proc/{tid}")))
        .is_ok_and(|folder| is_unknown_user(root, folder.uid()))
}

/// Whether this number stands for the users that this process's user namespace does not know.
#[must_use]
pub fn is_unknown_user(root: &Root, user: u32) -> bool {
    let unknown = root.read("/proc/sys/kernel/overflowuid").ok().and_then(|uid| uid.parse().ok());
    Some(user) == unknown && visibility::is_in_user_namespace(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_there_or_not_are_open_to_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::write(folder.path().join("cpu0"), "").unwrap();
        assert!(["/cpu*", "/none"].iter().all(|path| !is_closed_to_root(&root, path)));
        assert!(!is_of_unknown_user(&root, 1));
        assert_eq!(as_root() == "as root of the host", is_root());
        assert_eq!(whom_to_ask(&root), "whoever started this container");
    }
}
