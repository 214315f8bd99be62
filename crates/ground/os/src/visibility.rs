//! The processes visible to this user: `/proc` may hide other users', and a container those
//! outside.

use crate::bytes::{unsigned, value, words};
use crate::mounts;
use crate::root::Root;

/// `PROC_PID_INIT_INO` of `include/linux/proc_ns.h`.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// `PROC_USER_INIT_INO` of `include/linux/proc_ns.h`.
const FIRST_USER_NAMESPACE: &str = "user:[4026531837]";

/// `CAP_SYS_PTRACE` of `include/uapi/linux/capability.h`.
const MAY_TRACE: u64 = 1 << 19;

/// Why `/proc` hides other users' processes; `None` if it shows all.
pub fn hidden(root: &Root) -> Option<String> {
    let mounts = mounts::all(root);
    let proc = mounts.iter().rev().find(|mount| mount.folder == "/proc" && mount.kind == "proc")?;
    let hides = proc
        .options
        .iter()
        .find_map(|option| option.strip_prefix("hidepid="))
        .filter(|how| !["0", "off"].contains(how))?;
    let is_open = may_trace(root)
        || (hides != "4"
            && hides != "ptraceable"
            && is_in_group(
                root,
                proc.options.iter().find_map(|option| option.strip_prefix("gid=")),
            ));
    (!is_open).then(|| {
        format!("/proc is mounted with hidepid={hides}, so it shows only this user's processes")
    })
}

/// Whether this process is in a container: a PID namespace without the processes outside.
pub fn is_in_container(root: &Root) -> bool {
    let namespace = std::fs::read_link(root.path("/proc/self/ns/pid"));
    namespace.is_ok_and(|namespace| namespace.as_os_str() != FIRST_PID_NAMESPACE)
}

/// Whether this process is in a user namespace, whose root has rights only inside.
pub fn is_in_user_namespace(root: &Root) -> bool {
    let namespace = std::fs::read_link(root.path("/proc/self/ns/user"));
    namespace.is_ok_and(|namespace| namespace.as_os_str() != FIRST_USER_NAMESPACE)
}

/// Whether this process may inspect other users' processes (`CAP_SYS_PTRACE`).
pub fn may_trace(root: &Root) -> bool {
    if is_in_user_namespace(root) {
        return false;
    }
    let status = root.read("/proc/self/status").unwrap_or_default();
    let mask = value(status.as_bytes(), b"CapEff").and_then(|mask| std::str::from_utf8(mask).ok());
    mask.and_then(|mask| u64::from_str_radix(mask, 16).ok())
        .is_some_and(|mask| mask & MAY_TRACE != 0)
}

/// Whether this process is in the group exempted by the mount.
fn is_in_group(root: &Root, group: Option<&str>) -> bool {
    let Some(group) = group.and_then(|group| unsigned(group.as_bytes())) else { return false };
    let status = root.read("/proc/self/status").unwrap_or_default();
    [status_value(&status, b"Groups"), status_value(&status, b"Gid")]
        .iter()
        .any(|groups| words(groups).any(|own| unsigned(own) == Some(group)))
}

fn status_value(status: &str, key: &[u8]) -> Vec<u8> {
    value(status.as_bytes(), key).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::with_files;

    fn computer(options: &str, status: &str, namespace: &str) -> (tempfile::TempDir, Root) {
        let text = format!(
            "1 0 0:1 / /proc rw - proc proc rw\n2 1 0:2 / /proc rw - proc proc {options}\n"
        );
        let files = [("/proc/self/mountinfo", text.as_str()), ("/proc/self/status", status)];
        let (folder, root) = with_files(&files);
        root.make_folder("/proc/self/ns").unwrap();
        std::os::unix::fs::symlink(namespace, root.path("/proc/self/ns/pid")).unwrap();
        (folder, root)
    }

    fn is_hidden(options: &str, status: &str) -> bool {
        hidden(&computer(options, status, "x").1).is_some()
    }

    #[test]
    fn hidepid_follows_mode_group_and_capability() {
        let user = "Gid:\t5\t5\t5\t5\nGroups:\t7 8 \nCapEff:\t0000000000000000\n";
        assert!(is_hidden("rw,hidepid=2", user) && is_hidden("rw,gid=9,hidepid=invisible", user));
        assert!(!is_hidden("rw", user) && !is_hidden("rw,hidepid=0", user));
        assert!(!is_hidden("rw,gid=8,hidepid=2", user) && !is_hidden("rw,gid=5,hidepid=1", user));
        assert!(is_hidden("rw,gid=8,hidepid=ptraceable", user), "this one knows no group");
        assert!(!is_hidden("rw,hidepid=2", "CapEff:\t000001ffffffffff\n"));
    }

    #[test]
    fn user_namespace_root_may_not_trace() {
        let (_folder, root) = computer("rw", "CapEff:\t000001ffffffffff\n", "x");
        assert!(may_trace(&root) && !is_in_user_namespace(&root));
        std::os::unix::fs::symlink("user:[4026532300]", root.path("/proc/self/ns/user")).unwrap();
        assert!(!may_trace(&root) && is_in_user_namespace(&root));
    }

    #[test]
    fn container_is_detected_by_its_pid_namespace() {
        assert!(is_in_container(&computer("rw", "", "pid:[4026532300]").1));
        assert!(!is_in_container(&computer("rw", "", FIRST_PID_NAMESPACE).1));
    }
}
