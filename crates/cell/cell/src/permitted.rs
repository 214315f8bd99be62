//! The changes that a journal may tell of: those that making a cell can have made, and no others.
//!
//! A journal says which value to write into which file, and root obeys it. So a line is obeyed only
//! where the file is one that making a cell changes, and the value one that such a file holds, no
//! matter who wrote the journal. Names are compared piece by piece: there is no `..` in them, and
//! users can make no links in the kernel's own file systems.

use crate::change::{Change, What};
use crate::name::Name;
use crate::settings::{DEFAULT_AFFINITY, PREFIX, REST, STAT_INTERVAL, WATCHDOG, WORKQUEUES};
use seatmap_os::CpuSet;
use seatmap_os::layout::Layout;

/// Whether a change that a cell's journal tells of is one that making the cell can have made.
pub(crate) fn may_be(change: &Change, cell: &Name, layout: &Layout) -> bool {
    is_place(change, cell, layout)
        && [&change.old, &change.new].into_iter().all(|value| is_value(change.what, value))
}

fn is_place(change: &Change, cell: &Name, layout: &Layout) -> bool {
    let path = change.path.as_str();
    match change.what {
        What::Value => {
            path == STAT_INTERVAL || is_below(path, &layout.v1, "cpuset.sched_load_balance")
        }
        What::Cpus => {
            path == WATCHDOG
                || has_number(path, "/proc/irq/", "/smp_affinity_list")
                || is_below(path, &layout.v1, &format!("{REST}/cpuset.cpus"))
        }
        What::CpuMask => [DEFAULT_AFFINITY, WORKQUEUES].contains(&path),
        What::Count => has_number(
            path,
            "/sys/devices/system/node/node",
            "/hugepages/hugepages-2048kB/nr_hugepages",
        ),
        What::Controller => is_below(path, &layout.v2, "cgroup.subtree_control"),
        What::Folder => [REST, &format!("{PREFIX}.{cell}")]
            .iter()
            .any(|name| is_below(path, &layout.v1, name) || is_below(path, &layout.v2, name)),
        What::Affinity => change.started_ticks.is_some() && has_number(path, "/proc/", ""),
    }
}

fn is_below(path: &str, base: &Option<String>, name: &str) -> bool {
    base.as_deref()
        .and_then(|base| path.strip_prefix(base))
        .is_some_and(|rest| rest.strip_prefix('/') == Some(name))
}

fn has_number(path: &str, before: &str, after: &str) -> bool {
    let number = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_value(what: What, value: &str) -> bool {
    match what {
        What::Cpus | What::Affinity => CpuSet::of_list(value).is_some(),
        What::CpuMask => CpuSet::of_mask(value).is_some(),
        What::Value | What::Count => value.parse::<u64>().is_ok(),
        What::Folder => ["", "made"].contains(&value),
        What::Controller => value
            .split_whitespace()
            .all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout { v2: Some("/sys/fs/cgroup".into()), v1: Some("/sys/fs/cgroup/cpuset".into()) }
    }

    fn is_obeyed(what: What, path: &str, old: &str) -> bool {
        let change = Change {
            what,
            path: path.into(),
            old: old.into(),
            new: old.into(),
            started_ticks: Some(7),
        };
        may_be(&change, &"quiet".parse().unwrap(), &layout())
    }

    #[test]
    fn what_cells_change_is_obeyed() {
        for (what, path, old) in [
            (What::Value, STAT_INTERVAL, "1"),
            (What::Value, "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance", "1"),
            (What::Cpus, WATCHDOG, "0-3,8"),
            (What::Cpus, "/proc/irq/36/smp_affinity_list", "0"),
            (What::Cpus, "/sys/fs/cgroup/cpuset/seatmap+rest/cpuset.cpus", "0-1"),
            (What::CpuMask, DEFAULT_AFFINITY, "f,00000003"),
            (What::CpuMask, WORKQUEUES, "3"),
            (
                What::Count,
                "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages",
                "0",
            ),
            (What::Controller, "/sys/fs/cgroup/cgroup.subtree_control", "cpu memory"),
            (What::Folder, "/sys/fs/cgroup/cpuset/seatmap+rest", ""),
            (What::Folder, "/sys/fs/cgroup/cpuset/seatmap.quiet", "made"),
            (What::Folder, "/sys/fs/cgroup/seatmap.quiet", "made"),
            (What::Affinity, "/proc/4711", "0-1"),
        ] {
            assert!(is_obeyed(what, path, old), "{path}");
        }
    }

    #[test]
    fn nothing_else_is_obeyed() {
        for (what, path, old) in [
            (What::Value, "/etc/ld.so.preload", "1"),
            (What::Value, "/proc/sys/kernel/core_pattern", "1"),
            (What::Value, STAT_INTERVAL, "|/tmp/evil"),
            (What::Value, "/proc/irq/36/smp_affinity_list", "1"),
            (What::Cpus, "/proc/irq/36/../../../etc/crontab", "1"),
            (What::Cpus, "/proc/irq//smp_affinity_list", "1"),
            (What::Cpus, "/proc/irq/36/smp_affinity_list/", "1"),
            (What::Cpus, "/proc/irq/36/smp_affinity_list", "0\n* * * * * root sh"),
            (What::Cpus, "/sys/fs/cgroup/cpuset/other/cpuset.cpus", "1"),
            (What::CpuMask, DEFAULT_AFFINITY, "root"),
            (What::Count, "/sys/devices/system/node/node1/../../x/nr_hugepages", "1"),
            (What::Controller, "/sys/fs/cgroup/user.slice/cgroup.subtree_control", "cpu"),
            (What::Controller, "/sys/fs/cgroup/cgroup.subtree_control", "+cpu\n"),
            (What::Folder, "/sys/fs/cgroup/cpuset/seatmap.another", "made"),
            (What::Folder, "/sys/fs/cgroup/user.slice", "made"),
            (What::Folder, "/srv/seatmap.quiet", "made"),
            (What::Affinity, "/proc/self", "0"),
            (What::Affinity, "/proc/1/../2", "0"),
        ] {
            assert!(!is_obeyed(what, path, old), "{path} {old}");
        }
        let nowhere = Layout::default();
        let folder = Change::folder("/seatmap.quiet");
        assert!(
            !may_be(&folder, &"quiet".parse().unwrap(), &nowhere),
            "no control groups are mounted"
        );
    }

    #[test]
    fn a_thread_is_known_by_its_start_alone() {
        let change = Change { what: What::Affinity, path: "/proc/7".into(), ..Change::folder("") };
        assert!(!may_be(&change, &"quiet".parse().unwrap(), &layout()));
    }
}
