//! One setting of one owner, as a line of a journal.
//!
//! Files and masks are changed as in [cells](seatmap_cell::change). The `path` of other settings
//! has the owner and the property.
//!
//! | path | is |
//! |---|---|
//! | `/sys/fs/cgroup/.../cpuset.cpus` | a file |
//! | `/proc/TID` | the mask of a thread |
//! | `/sys/class/net/*/queues/rx-*/rps_cpus` | a mask of CPUs |
//! | `unit:NAME:AllowedCPUs` | a property of a unit until reboot; `kept-unit:` for good |
//! | `drop-in:NAME:AllowedCPUs` | systemd's file for it; `kept-drop-in:` for good |
//! | `container:podman:NAME:cpus` | an option of a container |
//! | `domain:NAME:vcpu:0`, `domain:NAME:emulator` | the pin of a part of a domain |

use super::drop_in::DropIn;
use super::virsh::{self, DomainPart};
use seatmap_cell::permitted::has_number;
use seatmap_cell::{SettingChange, SettingKind};
use seatmap_data::statistics::words::joined;
use seatmap_os::layout::CpusetMounts;
use seatmap_os::limited::{self, LimitedError};
use seatmap_os::root::FileError;
use seatmap_os::{CpuSet, Root, rps};
use std::io;
use std::process::{Command, Output};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// The time limit for nodes: the kernel moves the memory of a whole group before it answers
/// (`cpuset_write_resmask` waits for `cpuset_migrate_mm_wq` in kernel/cgroup/cpuset.c), which takes
/// minutes for hundreds of GB.
const PATIENCE_WITH_MEMORY: Duration = Duration::from_secs(900);

pub const PROPERTIES: [&str; 2] = ["AllowedCPUs", "AllowedMemoryNodes"];

pub const OPTIONS: [&str; 2] = ["cpus", "mems"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner<'a> {
    /// A file or a thread.
    Kernel,
    /// systemd.
    Unit { name: &'a str, property: &'a str, is_kept: bool },
    /// systemd's file for a property, with its value.
    DropIn(DropIn<'a>),
    /// A container engine.
    Container { engine: &'a str, name: &'a str, option: &'a str },
    /// libvirt.
    Domain { name: &'a str, part: DomainPart },
}

fn owner(path: &str) -> Owner<'_> {
    if let Some(drop_in) = DropIn::of(path) {
        return Owner::DropIn(drop_in);
    }
    let domain = |name, kind, number| {
        DomainPart::of(kind, number).map_or(Owner::Kernel, |part| Owner::Domain { name, part })
    };
    match path.splitn(4, ':').collect::<Vec<_>>()[..] {
        ["unit", name, property] => Owner::Unit { name, property, is_kept: false },
        ["kept-unit", name, property] => Owner::Unit { name, property, is_kept: true },
        ["container", engine, name, option] => Owner::Container { engine, name, option },
        ["domain", name, kind] => domain(name, kind, None),
        ["domain", name, kind, number] => domain(name, kind, Some(number)),
        _ => Owner::Kernel,
    }
}

/// The change of a file; `None` if it has the new content already.
///
/// # Errors
/// The file cannot be read.
pub fn of_file(
    root: &Root,
    what: SettingKind,
    path: &str,
    new: &str,
) -> Result<Option<SettingChange>, FileError> {
    let change = SettingChange::of_file(root, what, path, new)?;
    Ok(Some(change).filter(|change| !change.same(&change.old, &change.new)))
}

/// # Errors
/// The owner does not report the present value.
pub fn of_owner(path: &str, new: &str) -> Result<SettingChange, FileError> {
    Ok(SettingChange::new(SettingKind::Cpus, path, asked(path)?, new))
}

/// # Errors
/// The value cannot be read.
pub fn current(root: &Root, change: &SettingChange) -> Result<String, FileError> {
    if owner(&change.path) == Owner::Kernel { change.current(root) } else { asked(&change.path) }
}

/// # Errors
/// An error of the kernel or the owner.
pub fn set(root: &Root, change: &SettingChange, value: &str) -> Result<(), FileError> {
    if owner(&change.path) != Owner::Kernel {
        return told(root, &change.path, value);
    }
    let towards = SettingChange { new: value.to_owned(), old: String::from("-"), ..change.clone() };
    match change.what {
        SettingKind::Affinity => towards.make(root),
        _ if value.is_empty() => clear(root, &change.path),
        _ => root.write(&change.path, value),
    }
}

/// Lists all possible CPUs or nodes, because the kernel refuses an empty list for a version 2 group
/// with members (ENOSPC; `validate_change` in kernel/cgroup/cpuset.c).
fn clear(root: &Root, path: &str) -> Result<(), FileError> {
    match root.write(path, "\n") {
        Err(error) if error.source.kind() == io::ErrorKind::StorageFull => {
            root.write(path, &all_of(root, path.ends_with("mems"), "possible")?)
        }
        written => written,
    }
}

/// `state` is the name of a kernel list.
fn all_of(root: &Root, is_nodes: bool, state: &str) -> Result<String, FileError> {
    let kind = if is_nodes { "node" } else { "cpu" };
    Ok(root.read(&format!("/sys/devices/system/{kind}/{state}"))?.trim().to_owned())
}

/// If the old list was empty, an equivalent one counts too.
pub fn is_old(root: &Root, change: &SettingChange, current: &str) -> bool {
    let is_all = |all: String| change.old.is_empty() && change.same(current, &all);
    change.same(current, &change.old)
        || all_of(root, is_of_nodes(&change.path), "possible").is_ok_and(is_all)
}

fn asked(path: &str) -> Result<String, FileError> {
    let output = match owner(path) {
        Owner::Unit { name, property, .. } | Owner::DropIn(DropIn { name, property, .. }) => {
            let show = ["show", "--property", property, "--value", "--", name];
            run(path, Command::new("systemctl").args(show))
        }
        Owner::Container { engine, name, option } => {
            let key = if option == "cpus" { "CpusetCpus" } else { "CpusetMems" };
            let format = format!("{{{{.HostConfig.{key}}}}}");
            run(path, Command::new(engine).args(["inspect", "--format", &format, "--", name]))
        }
        Owner::Domain { name, part } => return virsh::pin(name, part),
        Owner::Kernel => return Err(failed(path, "it has no owner")),
    }?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // systemd prints its lists with spaces: `0-3 8`.
    Ok(joined(printed.split_whitespace(), ","))
}

fn told(root: &Root, path: &str, value: &str) -> Result<(), FileError> {
    match owner(path) {
        Owner::Unit { name, property, is_kept } => {
            // The kernel keeps a list that systemd drops from a group with members, so the last
            // must have everything.
            if value.is_empty() {
                let all = all_of(root, property == PROPERTIES[1], "possible")?;
                set_property(path, name, &format!("{property}={all}"), is_kept)?;
            }
            set_property(path, name, &format!("{property}={value}"), is_kept)
        }
        Owner::Container { engine, name, option } => {
            // An engine ignores empty lists; all CPUs are equivalent.
            let all = all_of(root, option == OPTIONS[1], "online")?;
            let list = if value.is_empty() { &all } else { value };
            let option = format!("--cpuset-{option}");
            run(path, Command::new(engine).args(["update", &option, list, "--", name]))
        }
        Owner::Domain { name, part } => return virsh::set_pin(name, part, value),
        // systemd writes it with the property.
        Owner::DropIn(_) => return Ok(()),
        Owner::Kernel => return Err(failed(path, "it has no owner")),
    }
    .map(drop)
}

fn set_property(path: &str, name: &str, setting: &str, is_kept: bool) -> Result<Output, FileError> {
    let mut command = Command::new("systemctl");
    command.arg("set-property");
    if !is_kept {
        command.arg("--runtime");
    }
    run(path, command.args(["--", name, setting]))
}

/// Makes systemd notice removed files.
///
/// # Errors
/// An error of systemd.
pub fn reload_units() -> Result<(), FileError> {
    run("systemctl daemon-reload", Command::new("systemctl").arg("daemon-reload")).map(drop)
}

fn patience(path: &str) -> Duration {
    if is_of_nodes(path) { PATIENCE_WITH_MEMORY } else { PATIENCE }
}

fn is_of_nodes(path: &str) -> bool {
    ["mems", PROPERTIES[1]].iter().any(|end| path.ends_with(end))
}

fn run(path: &str, command: &mut Command) -> Result<Output, FileError> {
    let output = output(path, command)?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(path, said.lines().next().unwrap_or("it failed without an error message")))
}

/// The output of an owner's command, also of one that failed. Errors distinguish a missing program
/// from a silent one.
pub fn output(path: &str, command: &mut Command) -> Result<Output, FileError> {
    let name = command.get_program().to_string_lossy().into_owned();
    limited::output(&name, command, patience(path)).map_err(|error| {
        let kind = match &error {
            LimitedError::Start { source, .. } => source.kind(),
            LimitedError::Late { .. } => io::ErrorKind::TimedOut,
        };
        let why = seatmap_data::document::with_causes(&error);
        FileError { path: path.to_owned(), source: io::Error::new(kind, why) }
    })
}

pub fn failed(path: &str, why: &str) -> FileError {
    FileError { path: path.to_owned(), source: io::Error::other(why.to_owned()) }
}

/// Whether a plan may have written a line of a journal. Root executes the journal, so others are
/// refused.
pub fn may_be(change: &SettingChange, layout: &CpusetMounts) -> bool {
    let values = [&change.old, &change.new];
    if change.what == SettingKind::CpuMask {
        let are_masks = values.iter().all(|value| CpuSet::of_mask(value).is_some());
        return are_masks && owner(&change.path) == Owner::Kernel && rps::is_file(&change.path);
    }
    let are_lists = values.iter().all(|value| value.is_empty() || CpuSet::of_list(value).is_some());
    let is_place = match owner(&change.path) {
        Owner::Unit { name, property, .. } | Owner::DropIn(DropIn { name, property, .. }) => {
            is_word(name) && PROPERTIES.contains(&property)
        }
        Owner::Container { engine, name, option } => {
            ["podman", "docker"].contains(&engine) && is_word(name) && OPTIONS.contains(&option)
        }
        Owner::Domain { name, .. } => virsh::is_domain_name(name),
        Owner::Kernel if change.what == SettingKind::Affinity => {
            change.started_ticks.is_some() && has_number(&change.path, "/proc/", "")
        }
        Owner::Kernel => {
            is_cpuset(&change.path, layout)
                || has_number(&change.path, "/proc/irq/", "/smp_affinity_list")
        }
    };
    let is_kind = matches!(change.what, SettingKind::Cpus | SettingKind::Affinity);
    is_kind && are_lists && is_place
}

/// Whether it is safe in a command: not an option, and without path separators.
pub fn is_word(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.len() <= 255
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.@\\".contains(c))
}

fn is_cpuset(path: &str, layout: &CpusetMounts) -> bool {
    let is_below = [&layout.v1, &layout.v2]
        .into_iter()
        .flatten()
        .any(|base| path.strip_prefix(base.as_str()).is_some_and(|rest| rest.starts_with('/')));
    let is_file = ["/cpuset.cpus", "/cpuset.mems"].iter().any(|file| path.ends_with(file));
    is_below && is_file && !path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_obeyed(what: SettingKind, path: &str, old: &str) -> bool {
        let layout = CpusetMounts {
            v2: Some("/sys/fs/cgroup".into()),
            v1: Some("/sys/fs/cgroup/cpuset".into()),
        };
        let change = SettingChange::new(what, path, old, 0);
        may_be(&SettingChange { started_ticks: Some(7), ..change }, &layout)
    }

    #[test]
    fn memory_settings_get_more_patience_than_cpus() {
        for path in ["unit:a.service:AllowedMemoryNodes", "container:docker:web:mems"] {
            assert_eq!(patience(path), PATIENCE_WITH_MEMORY, "{path}");
        }
        for path in ["unit:a.service:AllowedCPUs", "container:docker:mems:cpus", "domain:a:vcpu:0"]
        {
            assert_eq!(patience(path), PATIENCE, "{path}");
        }
    }

    #[test]
    fn undo_accepts_only_service_settings() {
        for path in [
            "/sys/fs/cgroup/system.slice/redis.service/cpuset.cpus",
            "/sys/fs/cgroup/cpuset/redis/cpuset.mems",
            "/proc/irq/36/smp_affinity_list",
            "unit:redis.service:AllowedCPUs",
            "kept-unit:a@b.service:AllowedMemoryNodes",
            "drop-in:redis.service:AllowedCPUs",
            "container:podman:web:cpus",
            "domain:web:vcpu:3",
            "domain:web-1:emulator",
        ] {
            assert!(is_obeyed(SettingKind::Cpus, path, "0-3"), "{path}");
            assert!(!is_obeyed(SettingKind::Cpus, path, "0; rm"), "{path}");
        }
        assert!(is_obeyed(SettingKind::Affinity, "/proc/4711", "0-1"));
        let queue = "/sys/class/net/eth0/queues/rx-0/rps_cpus";
        assert!(is_obeyed(SettingKind::CpuMask, queue, "00000000,0000000f"));
        assert!(
            !is_obeyed(SettingKind::CpuMask, queue, "x")
                && !is_obeyed(SettingKind::Cpus, queue, "0")
        );
        assert!(!is_obeyed(SettingKind::CpuMask, "/etc/passwd", "f"));
        for (what, path) in [
            (SettingKind::Cpus, "/etc/passwd"),
            (SettingKind::Cpus, "/sys/fs/cgroup/../../etc/cpuset.cpus"),
            (SettingKind::Cpus, "/sys/fs/cgroup/x/cgroup.procs"),
            (SettingKind::Cpus, "/proc/irq/x/smp_affinity_list"),
            (SettingKind::Cpus, "unit:-x:AllowedCPUs"),
            (SettingKind::Cpus, "unit:redis.service:ExecStart"),
            (SettingKind::Cpus, "drop-in:../redis:AllowedCPUs"),
            (SettingKind::Cpus, "kept-drop-in:redis.service:../../x"),
            (SettingKind::Cpus, "container:sh:web:cpus"),
            (SettingKind::Cpus, "container:docker:a b:cpus"),
            (SettingKind::Cpus, "domain:-c:vcpu:3"),
            (SettingKind::Cpus, "domain:web:vcpu:-1"),
            (SettingKind::Cpus, "domain:web:disk:0"),
            (SettingKind::Affinity, "/proc/self"),
            (SettingKind::Value, "/sys/fs/cgroup/x/cpuset.cpus"),
        ] {
            assert!(!is_obeyed(what, path, "0"), "{path}");
        }
    }
}
