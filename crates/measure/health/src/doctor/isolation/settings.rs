//! Settings of the running kernel.

use crate::doctor::diagnosis::{fix, info, no, ok};
use crate::doctor::{Diagnosis, DoctorRemedyKind, Remedy};
use seatmap_cell::settings_lock::SettingsLock;
use seatmap_os::kernel::limits_real_time;
use seatmap_os::{CpuSet, Root, layout};

const SELDOM_S: u64 = 10;

const WORKQUEUE: &str = "/sys/devices/virtual/workqueue/cpumask";

/// For [`huge_pages`].
const POOL_PAGES: u64 = 32;

pub fn examine(root: &Root, cpus: &CpuSet, held: Option<&SettingsLock>) -> Vec<Diagnosis> {
    let others = layout::online(root).unwrap_or_default().without(cpus);
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
    info(subject, "not known: this kernel does not report it")
}

/// Real-time throttling (sched(7)) stops only threads of SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
fn throttling(root: &Root) -> Diagnosis {
    let subject = "rt throttling";
    let path = "/proc/sys/kernel/sched_rt_runtime_us";
    match root.read(path).as_deref() {
        Err(_) => unknown(subject),
        Ok("-1") => ok(subject, "off"),
        Ok(_) if !limits_real_time(root) => {
            let found = "none on this kernel: a fair server keeps time for ordinary threads";
            ok(subject, found)
        }
        Ok(runtime) => {
            let found = format!(
                "SCHED_FIFO threads stop after {runtime} us of each period; SCHED_OTHER ones do not"
            );
            info(subject, found).with(Remedy::write(
                root,
                DoctorRemedyKind::TurnThrottlingOff,
                path,
                "-1",
            ))
        }
    }
}

/// Deferred kernel work goes to any CPU of this mask. Rewriting it shows whether it can be set.
fn workqueues(
    root: &Root,
    cpus: &CpuSet,
    others: &CpuSet,
    held: Option<&SettingsLock>,
) -> Diagnosis {
    let subject = "workqueues";
    let own = root.read(WORKQUEUE).unwrap_or_default();
    let Some(members) = CpuSet::of_mask(&own) else { return unknown(subject) };
    if !members.meets(cpus) {
        return ok(subject, "run on other CPUs");
    }
    let others = others.to_mask();
    let tried = held.map(|_| {
        root.write(WORKQUEUE, &own).is_ok() && root.read(WORKQUEUE).is_ok_and(|now| now == own)
    });
    let found = match tried {
        Some(true) => "unbound ones run on these CPUs, too",
        Some(false) => {
            let found = "unbound ones run on these CPUs, too; their mask cannot be set from here";
            let advice = format!("ask root of the host to write {others} to {WORKQUEUE}");
            return no(subject, found, advice);
        }
        None => "unbound ones run on these CPUs, too; setting their mask was not tried (use --try)",
    };
    fix(subject, found, Remedy::write(root, DoctorRemedyKind::MoveWorkqueues, WORKQUEUE, &others))
}

fn watchdog(root: &Root, cpus: &CpuSet, others: &CpuSet) -> Diagnosis {
    let subject = "watchdog";
    let path = "/proc/sys/kernel/watchdog_cpumask";
    let [on, watched] = ["/proc/sys/kernel/watchdog", path].map(|path| root.read(path));
    let (Ok(on), Ok(watched)) = (on, watched) else { return unknown(subject) };
    // With the watchdog off, the mask remains without effect.
    if on == "0" || !CpuSet::of_list(&watched).is_some_and(|watched| watched.meets(cpus)) {
        return ok(subject, "leaves these CPUs alone");
    }
    let remedy = Remedy::write(root, DoctorRemedyKind::MoveWatchdog, path, &others.to_string());
    fix(subject, "wakes a thread on each CPU every few seconds", remedy)
}

fn statistics(root: &Root) -> Diagnosis {
    let subject = "vm statistics";
    let path = "/proc/sys/vm/stat_interval";
    let Some(seconds) = root.number::<u64>(path) else { return unknown(subject) };
    if seconds >= SELDOM_S {
        return ok(subject, format!("gathered every {seconds} s"));
    }
    let found = format!("gathered on each CPU every {seconds} s");
    let remedy = Remedy::write(root, DoctorRemedyKind::GatherSeldom, path, "120");
    fix(subject, found, remedy)
}

fn thp(root: &Root) -> Diagnosis {
    let subject = "thp";
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    match root.read(path) {
        Err(_) => unknown(subject),
        // `always [madvise] never`: brackets mark the current setting (transhuge.rst).
        Ok(text) if text.contains("[always]") => {
            let found = "always: page faults and khugepaged compact memory at times";
            let remedy = Remedy::write(root, DoctorRemedyKind::HugePagesOnRequest, path, "madvise");
            fix(subject, found, remedy)
        }
        Ok(_) => ok(subject, "only if a program requests it"),
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

fn nodes(root: &Root, cpus: &CpuSet) -> Vec<Node> {
    // The kernel refuses huge pages on a node without memory.
    let has_memory = root.cpus(&format!("{NODES}/has_memory"));
    let names = root.folders(NODES).unwrap_or_default().into_iter().filter(|name| {
        let number = name.strip_prefix("node").and_then(|number| number.parse().ok());
        has_memory.as_ref().is_none_or(|nodes| number.is_some_and(|number| nodes.contains(number)))
    });
    names.filter_map(|name| node_near(root, cpus, name)).collect()
}

fn node_near(root: &Root, cpus: &CpuSet, name: String) -> Option<Node> {
    let folder = format!("{NODES}/{name}");
    let meminfo = root.read(&format!("{folder}/meminfo")).unwrap_or_default();
    let [total, free] = ["nr_hugepages", "free_hugepages"]
        .map(|file| root.number(&format!("{folder}/hugepages/hugepages-2048kB/{file}")));
    root.cpus(&format!("{folder}/cpulist")).filter(|near| near.meets(cpus))?;
    Some(Node { name, total: total?, free: free?, free_kib: free_kib(&meminfo) })
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
        return ok(subject, found);
    }
    // Pages of 2048 KiB are contiguous, so twice as much must be free.
    let needed_kib = 2 * POOL_PAGES * 2048;
    if node.free_kib.is_some_and(|free| free < needed_kib) {
        let advice = format!("{} needs {} MiB of free memory first", node.name, needed_kib >> 10);
        return fix(subject, found, Remedy::advice(advice));
    }
    let path = format!("{NODES}/{}/hugepages/hugepages-2048kB/nr_hugepages", node.name);
    let pages = (node.total + POOL_PAGES).to_string();
    fix(subject, found, Remedy::write(root, DoctorRemedyKind::FillHugePages, &path, &pages))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use crate::doctor::fixture::Fixture;

    fn set(cpus: &str) -> CpuSet {
        CpuSet::of_list(cpus).unwrap()
    }

    fn level(examined: fn(&Root) -> Diagnosis, files: &[(&str, &str)]) -> Severity {
        examined(&Fixture::new(files).root).level
    }

    #[test]
    fn quiet_settings_need_no_remedy() {
        let watched = |on: &str, cpus: &str| {
            let files =
                [("/proc/sys/kernel/watchdog", on), ("/proc/sys/kernel/watchdog_cpumask", cpus)];
            watchdog(&Fixture::new(&files).root, &set("2,3"), &set("0,1")).level
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

    fn deferred(files: &[(&str, &str)]) -> Diagnosis {
        workqueues(&Fixture::new(files).root, &set("2,3"), &set("0,1"), None)
    }

    #[test]
    fn workqueues_on_other_cpus_are_ok() {
        assert_eq!(deferred(&[(WORKQUEUE, "3")]).level, Severity::Ok);
        assert_eq!(deferred(&[]).level, Severity::Info);
        let read = deferred(&[(WORKQUEUE, "f")]);
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
