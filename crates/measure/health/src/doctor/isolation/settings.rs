//! Settings of the running kernel.

use super::text::{as_mask, list, mask, read, shown};
use crate::doctor::{Diagnosis, DoctorRemedyKind, Remedy, Severity};
use seatmap_cell::settings_lock::SettingsLock;
use seatmap_os::kernel::limits_real_time;
use seatmap_os::{Root, layout};

const SELDOM_S: u64 = 10;

const WORKQUEUE: &str = "/sys/devices/virtual/workqueue/cpumask";

/// For [`huge_pages`].
const POOL_PAGES: u64 = 32;

pub fn examine(root: &Root, cpus: &[u32], held: Option<&SettingsLock>) -> Vec<Diagnosis> {
    let online = layout::online(root).map(|online| online.list().0).unwrap_or_default();
    let others: Vec<u32> = online.into_iter().filter(|cpu| !cpus.contains(cpu)).collect();
    let mut found = vec![
        throttling(root),
        workqueues(root, cpus, &others, held),
        watchdog(root, cpus, &others),
        statistics(root),
        thp(root),
    ];
    found.extend(nodes(root, cpus).iter().map(|node| huge_pages(root, node)));
    found
}

fn unknown(subject: &'static str) -> Diagnosis {
    Diagnosis::new(subject, Severity::Info, "not known: this kernel does not report it", None)
}

/// Real-time throttling (sched(7)) stops only threads of SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
fn throttling(root: &Root) -> Diagnosis {
    let subject = "rt throttling";
    let path = "/proc/sys/kernel/sched_rt_runtime_us";
    match read(root, path).as_deref() {
        None => unknown(subject),
        Some("-1") => Diagnosis::new(subject, Severity::Ok, "off", None),
        Some(_) if !limits_real_time(root) => {
            let found = "none on this kernel: a fair server keeps time for ordinary threads";
            Diagnosis::new(subject, Severity::Ok, found, None)
        }
        Some(runtime) => {
            let found = format!(
                "SCHED_FIFO threads stop after {runtime} us of each period; SCHED_OTHER ones do not"
            );
            Diagnosis::new(
                subject,
                Severity::Info,
                found,
                Some(Remedy::write(root, DoctorRemedyKind::TurnThrottlingOff, path, "-1")),
            )
        }
    }
}

/// Deferred kernel work goes to any CPU of this mask. Rewriting it shows whether it can be set.
fn workqueues(root: &Root, cpus: &[u32], others: &[u32], held: Option<&SettingsLock>) -> Diagnosis {
    let subject = "workqueues";
    let own = read(root, WORKQUEUE).and_then(|own| Some((mask(&own)?, own)));
    let Some((members, own)) = own else { return unknown(subject) };
    if !members.iter().any(|cpu| cpus.contains(cpu)) {
        return Diagnosis::new(subject, Severity::Ok, "run on other CPUs", None);
    }
    let tried = held.map(|_| {
        root.write(WORKQUEUE, &own).is_ok() && read(root, WORKQUEUE).as_ref() == Some(&own)
    });
    let found = match tried {
        Some(true) => "unbound ones run on these CPUs, too",
        Some(false) => {
            let found = "unbound ones run on these CPUs, too; their mask cannot be set from here";
            let advice =
                format!("ask root of the host to write {} to {WORKQUEUE}", as_mask(others));
            return Diagnosis::new(subject, Severity::No, found, Some(Remedy::advice(advice)));
        }
        None => "unbound ones run on these CPUs, too; setting their mask was not tried (use --try)",
    };
    Diagnosis::new(
        subject,
        Severity::Fix,
        found,
        Some(Remedy::write(root, DoctorRemedyKind::MoveWorkqueues, WORKQUEUE, &as_mask(others))),
    )
}

fn watchdog(root: &Root, cpus: &[u32], others: &[u32]) -> Diagnosis {
    let subject = "watchdog";
    let path = "/proc/sys/kernel/watchdog_cpumask";
    let Some(on) = read(root, "/proc/sys/kernel/watchdog") else { return unknown(subject) };
    let Some(watched) = read(root, path) else { return unknown(subject) };
    // With the watchdog off, the mask remains without effect.
    if on == "0" || !list(&watched).iter().any(|cpu| cpus.contains(cpu)) {
        return Diagnosis::new(subject, Severity::Ok, "leaves these CPUs alone", None);
    }
    let remedy = Remedy::write(root, DoctorRemedyKind::MoveWatchdog, path, &shown(others));
    Diagnosis::new(
        subject,
        Severity::Fix,
        "wakes a thread on each CPU every few seconds",
        Some(remedy),
    )
}

fn statistics(root: &Root) -> Diagnosis {
    let subject = "vm statistics";
    let path = "/proc/sys/vm/stat_interval";
    let Some(seconds) = read(root, path).and_then(|text| text.parse::<u64>().ok()) else {
        return unknown(subject);
    };
    if seconds >= SELDOM_S {
        return Diagnosis::new(subject, Severity::Ok, format!("gathered every {seconds} s"), None);
    }
    let found = format!("gathered on each CPU every {seconds} s");
    let remedy = Remedy::write(root, DoctorRemedyKind::GatherSeldom, path, "120");
    Diagnosis::new(subject, Severity::Fix, found, Some(remedy))
}

fn thp(root: &Root) -> Diagnosis {
    let subject = "thp";
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    match read(root, path) {
        None => unknown(subject),
        // `always [madvise] never`: brackets mark the current setting (transhuge.rst).
        Some(text) if text.contains("[always]") => {
            let found = "always: page faults and khugepaged compact memory at times";
            let remedy = Remedy::write(root, DoctorRemedyKind::HugePagesOnRequest, path, "madvise");
            Diagnosis::new(subject, Severity::Fix, found, Some(remedy))
        }
        Some(_) => Diagnosis::new(subject, Severity::Ok, "only if a program requests it", None),
    }
}

struct Node {
    name: String,
    total: u64,
    free: u64,
    /// In KiB, if known.
    free_kib: Option<u64>,
}

const NODES: &str = "/sys/devices/system/node";

fn nodes(root: &Root, cpus: &[u32]) -> Vec<Node> {
    // The kernel refuses huge pages on a node without memory.
    let has_memory = read(root, &format!("{NODES}/has_memory")).map(|text| list(&text));
    root.folders(NODES)
        .unwrap_or_default()
        .into_iter()
        .filter(|name| {
            let number = name.strip_prefix("node").and_then(|number| number.parse().ok());
            has_memory
                .as_ref()
                .is_none_or(|nodes| number.is_some_and(|number| nodes.contains(&number)))
        })
        .filter_map(|name| node_near(root, cpus, name))
        .collect()
}

fn node_near(root: &Root, cpus: &[u32], name: String) -> Option<Node> {
    let near = list(&read(root, &format!("{NODES}/{name}/cpulist"))?);
    let free_kib = read(root, &format!("{NODES}/{name}/meminfo")).and_then(|text| free_kib(&text));
    let [total, free] = ["nr_hugepages", "free_hugepages"].map(|file| {
        read(root, &format!("{NODES}/{name}/hugepages/hugepages-2048kB/{file}"))?.parse().ok()
    });
    let is_near = near.iter().any(|cpu| cpus.contains(cpu));
    is_near.then_some(Node { name, total: total?, free: free?, free_kib })
}

/// From `Node 0 MemFree: 11796480 kB`.
fn free_kib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.contains(" MemFree:"))?;
    line.split_whitespace().rev().nth(1)?.parse().ok()
}

fn huge_pages(root: &Root, node: &Node) -> Diagnosis {
    let subject = "huge pages";
    let found = format!("{}: {} free of {} (2 MiB each)", node.name, node.free, node.total);
    if node.free > 0 {
        return Diagnosis::new(subject, Severity::Ok, found, None);
    }
    // Pages of 2048 KiB are contiguous, so twice as much must be free.
    let needed_kib = 2 * POOL_PAGES * 2048;
    if node.free_kib.is_some_and(|free| free < needed_kib) {
        let advice = format!("{} needs {} MiB of free memory first", node.name, needed_kib >> 10);
        return Diagnosis::new(subject, Severity::Fix, found, Some(Remedy::advice(advice)));
    }
    let path =
        format!("/sys/devices/system/node/{}/hugepages/hugepages-2048kB/nr_hugepages", node.name);
    let pages = (node.total + POOL_PAGES).to_string();
    Diagnosis::new(
        subject,
        Severity::Fix,
        found,
        Some(Remedy::write(root, DoctorRemedyKind::FillHugePages, &path, &pages)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::fixture::Fixture;

    fn level(examined: fn(&Root) -> Diagnosis, files: &[(&str, &str)]) -> Severity {
        examined(&Fixture::new(files).root).level
    }

    #[test]
    fn quiet_settings_need_no_remedy() {
        let watched = |on: &str, cpus: &str| {
            let files =
                [("/proc/sys/kernel/watchdog", on), ("/proc/sys/kernel/watchdog_cpumask", cpus)];
            watchdog(&Fixture::new(&files).root, &[2, 3], &[0, 1]).level
        };
        let levels = [watched("1", "0-3"), watched("1", "0-1"), watched("0", "0-3")];
        assert_eq!(levels, [Severity::Fix, Severity::Ok, Severity::Ok]);
        assert_eq!(level(statistics, &[("/proc/sys/vm/stat_interval", "120")]), Severity::Ok);
        let enabled = "/sys/kernel/mm/transparent_hugepage/enabled";
        assert_eq!(level(thp, &[(enabled, "always [madvise] never")]), Severity::Ok);
        assert_eq!(
            level(throttling, &[("/proc/sys/kernel/sched_rt_runtime_us", "950000")]),
            Severity::Info
        );
    }

    fn fixture(mask: &str) -> Fixture {
        Fixture::new(&[(WORKQUEUE, mask)])
    }

    #[test]
    fn workqueues_on_other_cpus_are_ok() {
        assert_eq!(workqueues(&fixture("3").root, &[2, 3], &[0, 1], None).level, Severity::Ok);
        assert_eq!(
            workqueues(&Fixture::new(&[]).root, &[2, 3], &[0, 1], None).level,
            Severity::Info
        );
        let read = workqueues(&fixture("f").root, &[2, 3], &[0, 1], None);
        assert!(
            read.level == Severity::Fix && read.found.contains("not tried (use --try)"),
            "{read:?}"
        );
    }

    #[test]
    fn huge_page_pool_is_filled_only_with_enough_memory() {
        let root = Root::new("/nowhere");
        let node = |free, free_kib| {
            let found = huge_pages(&root, &Node { name: "node1".into(), total: 4, free, free_kib });
            found.remedy.map(|remedy| remedy.kind)
        };
        assert_eq!(node(0, Some(1 << 20)), Some(DoctorRemedyKind::FillHugePages));
        assert_eq!(node(0, None), Some(DoctorRemedyKind::FillHugePages));
        assert_eq!(node(0, Some(1 << 16)), Some(DoctorRemedyKind::Advice));
        assert_eq!(node(1, None), None);
        assert_eq!(free_kib("Node 0 MemTotal: 9 kB\nNode 0 MemFree:   512 kB\n"), Some(512));
    }

    #[test]
    fn unreported_setting_is_not_a_fault() {
        assert_eq!(level(statistics, &[("/proc/sys/vm/stat_interval", "soon")]), Severity::Info);
        assert_eq!(level(thp, &[]), Severity::Info);
    }

    /// In a container `/proc/sys` is read-only.
    #[test]
    fn read_only_file_remedy_addresses_the_host() {
        let mounts = "1 0 0:1 / / rw - overlay o rw\n2 1 0:5 / /proc rw - proc p rw\n3 2 0:5 /sys /proc/sys ro - proc p rw\n";
        let files = [("/proc/self/mountinfo", mounts), ("/proc/sys/vm/stat_interval", "1")];
        let remedy = statistics(&Fixture::new(&files).root).remedy.unwrap();
        let sentence =
            "ask the user who started this container to write 120 to /proc/sys/vm/stat_interval";
        assert_eq!((remedy.kind, remedy.text.as_str()), (DoctorRemedyKind::Advice, sentence));
    }
}
