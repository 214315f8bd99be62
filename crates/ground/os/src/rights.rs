//! Limits on root's rights, in a user namespace or without capabilities (user_namespaces(7),
//! capabilities(7)).

use crate::root::Root;
use crate::{Tid, visibility};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use std::io;
use std::os::unix::fs::MetadataExt;

/// Names a more privileged user: `as root`, or `as root of the host` if this process runs as root.
pub fn as_root() -> &'static str {
    if is_root() { "as root of the host" } else { "as root" }
}

/// Advice about missing permission; empty for other errors.
pub fn way_out(error: &io::Error) -> &'static str {
    match (error.raw_os_error().map(Errno::from_raw_os_error), is_root()) {
        (Some(Errno::PERM | Errno::ACCESS), true) => " (run it as root of the host)",
        (Some(Errno::PERM | Errno::ACCESS), false) => " (run it as root)",
        _ => "",
    }
}

/// Names a user with more rights than root of this container or user namespace.
pub fn whom_to_ask(root: &Root) -> &'static str {
    if visibility::is_in_user_namespace(root) {
        "root of the host"
    } else {
        "the user who started this container"
    }
}

/// Whether this process runs as root, possibly of a user namespace.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether this process may set the masks of another one's threads: it runs as the same user, or
/// as root.
pub fn may_seat(pid: Tid) -> bool {
    let own = rustix::process::geteuid();
    let owner = std::fs::metadata(format!("/proc/{pid}")).map(|folder| folder.uid());
    own.is_root() || owner.is_ok_and(|owner| owner == own.as_raw())
}

/// Whether the kernel denies root to write a file. False for other users, whom a command for root
/// helps. A `*` in the path means the first of several files.
pub fn is_closed_to_root(root: &Root, path: &str) -> bool {
    let path = root.path(&path.replace('*', "0"));
    let refusals = [Errno::ACCESS, Errno::PERM, Errno::ROFS];
    is_root()
        && accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS)
            .is_err_and(|error| refusals.contains(&error))
}

/// Whether a thread's user is unknown to this user namespace, so that its root cannot change the
/// thread.
pub fn is_of_unknown_user(root: &Root, tid: Tid) -> bool {
    std::fs::metadata(root.path(&format!("/proc/{tid}")))
        .is_ok_and(|folder| is_unknown_user(root, folder.uid()))
}

/// Whether this number stands for all users unknown to this user namespace.
pub fn is_unknown_user(root: &Root, user: u32) -> bool {
    let unknown = root.number("/proc/sys/kernel/overflowuid");
    Some(user) == unknown && visibility::is_in_user_namespace(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::with_files;

    #[test]
    fn present_and_absent_files_are_open_to_root() {
        let (_folder, root) = with_files(&[("/cpu0", "")]);
        assert!(["/cpu*", "/none"].iter().all(|path| !is_closed_to_root(&root, path)));
        assert!(!is_of_unknown_user(&root, 1));
        assert_eq!(as_root() == "as root of the host", is_root());
        assert_eq!(whom_to_ask(&root), "the user who started this container");
    }
}
