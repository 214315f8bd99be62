//! The changes that a journal may contain: only those that creating a cell can make.
//!
//! Root obeys a journal of any author. Paths are compared piece by piece: they contain no `..`, and
//! users cannot create links in the kernel's file systems.

use crate::settings::{DEFAULT_AFFINITY, PREFIX, REST, STAT_INTERVAL, WATCHDOG, WORKQUEUES};
use crate::{Name, SettingChange, SettingKind};
use seatmap_os::CpuSet;
use seatmap_os::layout::CpusetMounts;

/// Whether creating this cell can make this change.
pub fn may_be(change: &SettingChange, cell: &Name, layout: &CpusetMounts) -> bool {
    is_place(change, cell, layout)
        && [&change.old, &change.new].into_iter().all(|value| is_value(change.what, value))
}

fn is_place(change: &SettingChange, cell: &Name, layout: &CpusetMounts) -> bool {
    let path = change.path.as_str();
    match change.what {
        SettingKind::Value => {
            path == STAT_INTERVAL || is_below(path, &layout.v1, "cpuset.sched_load_balance")
        }
        SettingKind::Cpus => {
            path == WATCHDOG
                || has_number(path, "/proc/irq/", "/smp_affinity_list")
                || is_below(path, &layout.v1, &format!("{REST}/cpuset.cpus"))
        }
        SettingKind::CpuMask => [DEFAULT_AFFINITY, WORKQUEUES].contains(&path),
        SettingKind::Count => has_number(
            path,
            "/sys/devices/system/node/node",
            "/hugepages/hugepages-2048kB/nr_hugepages",
        ),
        SettingKind::Controller => is_below(path, &layout.v2, "cgroup.subtree_control"),
        SettingKind::Folder => [REST, &format!("{PREFIX}.{cell}")]
            .iter()
            .any(|name| is_below(path, &layout.v1, name) || is_below(path, &layout.v2, name)),
        SettingKind::Affinity => change.started_ticks.is_some() && has_number(path, "/proc/", ""),
    }
}

fn is_below(path: &str, base: &Option<String>, name: &str) -> bool {
    base.as_deref()
        .and_then(|base| path.strip_prefix(base))
        .is_some_and(|rest| rest.strip_prefix('/') == Some(name))
}

/// Whether a path has only digits between these texts.
pub fn has_number(path: &str, before: &str, after: &str) -> bool {
    let number = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_value(what: SettingKind, value: &str) -> bool {
    match what {
        SettingKind::Cpus | SettingKind::Affinity => CpuSet::of_list(value).is_some(),
        SettingKind::CpuMask => CpuSet::of_mask(value).is_some(),
        SettingKind::Value | SettingKind::Count => value.parse::<u64>().is_ok(),
        SettingKind::Folder => ["", "made"].contains(&value),
        SettingKind::Controller => value
            .split_whitespace()
            .all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> CpusetMounts {
        CpusetMounts { v2: Some("/sys/fs/cgroup".into()), v1: Some("/sys/fs/cgroup/cpuset".into()) }
    }

    fn is_obeyed(what: SettingKind, path: &str, old: &str) -> bool {
        let change = SettingChange::new(what, path, old, old);
        let change = SettingChange { started_ticks: Some(7), ..change };
        may_be(&change, &"quiet".parse().unwrap(), &layout())
    }

    #[test]
    fn settings_of_cells_are_permitted() {
        for (what, path, old) in [
            (SettingKind::Value, STAT_INTERVAL, "1"),
            (SettingKind::Value, "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance", "1"),
            (SettingKind::Cpus, WATCHDOG, "0-3,8"),
            (SettingKind::Cpus, "/proc/irq/36/smp_affinity_list", "0"),
            (SettingKind::Cpus, "/sys/fs/cgroup/cpuset/seatmap+rest/cpuset.cpus", "0-1"),
            (SettingKind::CpuMask, DEFAULT_AFFINITY, "f,00000003"),
            (SettingKind::CpuMask, WORKQUEUES, "3"),
            (
                SettingKind::Count,
                "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages",
                "0",
            ),
            (SettingKind::Controller, "/sys/fs/cgroup/cgroup.subtree_control", "cpu memory"),
            (SettingKind::Folder, "/sys/fs/cgroup/cpuset/seatmap+rest", ""),
            (SettingKind::Folder, "/sys/fs/cgroup/cpuset/seatmap.quiet", "made"),
            (SettingKind::Folder, "/sys/fs/cgroup/seatmap.quiet", "made"),
            (SettingKind::Affinity, "/proc/4711", "0-1"),
        ] {
            assert!(is_obeyed(what, path, old), "{path}");
        }
    }

    #[test]
    fn other_settings_are_refused() {
        for (what, path, old) in [
            (SettingKind::Value, "/etc/ld.so.preload", "1"),
            (SettingKind::Value, "/proc/sys/kernel/core_pattern", "1"),
            (SettingKind::Value, STAT_INTERVAL, "|/tmp/evil"),
            (SettingKind::Value, "/proc/irq/36/smp_affinity_list", "1"),
            (SettingKind::Cpus, "/proc/irq/36/../../../etc/crontab", "1"),
            (SettingKind::Cpus, "/proc/irq//smp_affinity_list", "1"),
            (SettingKind::Cpus, "/proc/irq/36/smp_affinity_list/", "1"),
            (SettingKind::Cpus, "/proc/irq/36/smp_affinity_list", "0\n* * * * * root sh"),
            (SettingKind::Cpus, "/sys/fs/cgroup/cpuset/other/cpuset.cpus", "1"),
            (SettingKind::CpuMask, DEFAULT_AFFINITY, "root"),
            (SettingKind::Count, "/sys/devices/system/node/node1/../../x/nr_hugepages", "1"),
            (SettingKind::Controller, "/sys/fs/cgroup/user.slice/cgroup.subtree_control", "cpu"),
            (SettingKind::Controller, "/sys/fs/cgroup/cgroup.subtree_control", "+cpu\n"),
            (SettingKind::Folder, "/sys/fs/cgroup/cpuset/seatmap.another", "made"),
            (SettingKind::Folder, "/sys/fs/cgroup/user.slice", "made"),
            (SettingKind::Folder, "/srv/seatmap.quiet", "made"),
            (SettingKind::Affinity, "/proc/self", "0"),
            (SettingKind::Affinity, "/proc/1/../2", "0"),
        ] {
            assert!(!is_obeyed(what, path, old), "{path} {old}");
        }
        let nowhere = CpusetMounts::default();
        let folder = SettingChange::folder("/seatmap.quiet");
        assert!(
            !may_be(&folder, &"quiet".parse().unwrap(), &nowhere),
            "no control groups are mounted"
        );
    }

    #[test]
    fn change_without_a_thread_start_is_refused() {
        let change = SettingChange::new(SettingKind::Affinity, "/proc/7", "", "made");
        assert!(!may_be(&change, &"quiet".parse().unwrap(), &layout()));
    }
}
