//! Settings of the running kernel.

use super::finding;
use super::text::{as_mask, list, mask, read, shown};
use crate::{Diagnosis, Severity};
use seatmap_cell::settings_lock::Held;
use seatmap_os::Root;
use seatmap_os::cpus::Cpus;

/// Seconds between two rounds of gathering statistics that count as seldom.
const SELDOM_S: u64 = 10;

const WORKQUEUE: &str = "/sys/devices/virtual/workqueue/cpumask";

/// Looks at all of them, and tries those that need the lock where it is held.
pub(super) fn examine(cpus: &[u32], held: Option<&Held>) -> Vec<Diagnosis> {
    let sysctl = |name: &str| read(&format!("/proc/sys/{name}"));
    let online = Cpus::read().map(|cpus| cpus.online).unwrap_or_default();
    let others: Vec<u32> = online.into_iter().filter(|cpu| !cpus.contains(cpu)).collect();
    let mut found = vec![
        throttling(sysctl("kernel/sched_rt_runtime_us").as_deref()),
        workqueues(read(WORKQUEUE).as_deref(), cpus, &others, held),
        watchdog(sysctl("kernel/watchdog").as_deref(), sysctl("kernel/watchdog_cpumask").as_deref(), cpus, &others),
        statistics(sysctl("vm/stat_interval").as_deref()),
        thp(read("/sys/kernel/mm/transparent_hugepage/enabled").as_deref()),
    ];
    found.extend(nodes(cpus).into_iter().map(huge_pages));
    found
}

fn unknown(subject: &'static str) -> Diagnosis {
    finding(subject, Severity::Info, "not known: this kernel does not say", None)
}

/// Real-time throttling (sched(7)): it stops threads, and only those of SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
fn throttling(runtime_us: Option<&str>) -> Diagnosis {
    let subject = "rt throttling";
    match runtime_us {
        None => unknown(subject),
        Some("-1") => finding(subject, Severity::Ok, "off", None),
        Some(runtime) => {
            let found = format!("SCHED_FIFO threads stop after {runtime} us of each period; SCHED_OTHER ones do not");
            finding(subject, Severity::Info, found, Some("echo -1 > /proc/sys/kernel/sched_rt_runtime_us".into()))
        }
    }
}

/// Work that the kernel puts off goes to any CPU of this mask. Where the lock is held, the mask is written over
/// itself to see whether it can be set.
fn workqueues(own: Option<&str>, cpus: &[u32], others: &[u32], held: Option<&Held>) -> Diagnosis {
    let subject = "workqueues";
    let Some((own, members)) = own.and_then(|own| Some((own, mask(own)?))) else { return unknown(subject) };
    if !members.iter().any(|cpu| cpus.contains(cpu)) {
        return finding(subject, Severity::Ok, "run elsewhere", None);
    }
    let tried = held.map(|_| Root::new("/").write(WORKQUEUE, own).is_ok() && read(WORKQUEUE).as_deref() == Some(own));
    let found = match tried {
        Some(true) => "unbound ones run here too",
        Some(false) => "unbound ones run here too, and the mask cannot be set from here",
        None => "unbound ones run here too; whether the mask can be set is not tried, --try does",
    };
    finding(subject, Severity::Fix, found, Some(format!("echo {} > {WORKQUEUE}", as_mask(others))))
}

fn watchdog(on: Option<&str>, watched: Option<&str>, cpus: &[u32], others: &[u32]) -> Diagnosis {
    let subject = "watchdog";
    let (Some(on), Some(watched)) = (on, watched) else { return unknown(subject) };
    match on != "0" && list(watched).iter().any(|cpu| cpus.contains(cpu)) {
        true => {
            let remedy = format!("echo {} > /proc/sys/kernel/watchdog_cpumask", shown(others));
            finding(subject, Severity::Fix, "wakes a thread on each CPU every few seconds", Some(remedy))
        }
        false => finding(subject, Severity::Ok, "leaves these CPUs alone", None),
    }
}

fn statistics(interval_s: Option<&str>) -> Diagnosis {
    let subject = "vm statistics";
    let Some(seconds) = interval_s.and_then(|text| text.parse::<u64>().ok()) else { return unknown(subject) };
    match seconds >= SELDOM_S {
        true => finding(subject, Severity::Ok, format!("gathered every {seconds} s"), None),
        false => {
            let found = format!("gathered on each CPU every {seconds} s");
            finding(subject, Severity::Fix, found, Some("echo 120 > /proc/sys/vm/stat_interval".into()))
        }
    }
}

fn thp(setting: Option<&str>) -> Diagnosis {
    let subject = "thp";
    match setting {
        None => unknown(subject),
        Some(text) if text.contains("[always]") => {
            let remedy = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
            finding(
                subject,
                Severity::Fix,
                "always: page faults and khugepaged compact memory at times",
                Some(remedy.into()),
            )
        }
        Some(_) => finding(subject, Severity::Ok, "only where a program asks for it", None),
    }
}

/// Huge pages of one NUMA node.
struct Node {
    name: String,
    total: u64,
    free: u64,
}

/// The nodes of these CPUs, where they have a pool of 2 MiB pages.
fn nodes(cpus: &[u32]) -> Vec<Node> {
    let (root, folder) = (Root::new("/"), "/sys/devices/system/node");
    let node = |name: String| {
        let near = list(&read(&format!("{folder}/{name}/cpulist"))?);
        let count = |file: &str| read(&format!("{folder}/{name}/hugepages/hugepages-2048kB/{file}"))?.parse().ok();
        let (total, free) = (count("nr_hugepages")?, count("free_hugepages")?);
        near.iter().any(|cpu| cpus.contains(cpu)).then_some(Node { name, total, free })
    };
    // The kernel refuses huge pages on a node without memory.
    let has_memory = read(&format!("{folder}/has_memory")).map(|text| list(&text));
    let is_full = |name: &String| {
        let number = name.strip_prefix("node").and_then(|number| number.parse().ok());
        has_memory.as_ref().is_none_or(|nodes| number.is_some_and(|number| nodes.contains(&number)))
    };
    root.folders(folder).unwrap_or_default().into_iter().filter(is_full).filter_map(node).collect()
}

fn huge_pages(node: Node) -> Diagnosis {
    let found = format!("{}: {} free of {} (2 MiB each)", node.name, node.free, node.total);
    match node.free {
        0 => {
            let path = format!("/sys/devices/system/node/{}/hugepages/hugepages-2048kB/nr_hugepages", node.name);
            finding("huge pages", Severity::Fix, found, Some(format!("echo {} > {path}", node.total + 32)))
        }
        _ => finding("huge pages", Severity::Ok, found, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(found: &Diagnosis) -> (Severity, &str) {
        (found.level, found.remedy.as_deref().unwrap_or_default())
    }

    #[test]
    fn what_disturbs_has_a_remedy_for_these_cpus() {
        let found = watchdog(Some("1"), Some("0-3"), &[2, 3], &[0, 1]);
        assert_eq!(told(&found), (Severity::Fix, "echo 0,1 > /proc/sys/kernel/watchdog_cpumask"));
        assert_eq!(watchdog(Some("1"), Some("0-1"), &[2, 3], &[0, 1]).level, Severity::Ok);
        assert_eq!(watchdog(Some("0"), Some("0-3"), &[2, 3], &[0, 1]).level, Severity::Ok);
        assert_eq!(told(&statistics(Some("1"))), (Severity::Fix, "echo 120 > /proc/sys/vm/stat_interval"));
        assert_eq!(statistics(Some("120")).level, Severity::Ok);
        assert_eq!(thp(Some("[always] madvise never")).level, Severity::Fix);
        assert_eq!(thp(Some("always [madvise] never")).level, Severity::Ok);
        assert_eq!(throttling(Some("950000")).level, Severity::Info);
        assert_eq!(throttling(Some("-1")).level, Severity::Ok);
    }

    #[test]
    fn workqueues_elsewhere_are_well() {
        assert_eq!(workqueues(Some("3"), &[2, 3], &[0, 1], None).level, Severity::Ok);
        assert_eq!(workqueues(None, &[2, 3], &[0, 1], None).level, Severity::Info);
        let read = workqueues(Some("f"), &[2, 3], &[0, 1], None);
        assert!(read.level == Severity::Fix && read.found.contains("not tried, --try does"), "{read:?}");
    }

    #[test]
    fn an_empty_pool_is_to_be_filled() {
        let node = |total, free| huge_pages(Node { name: "node1".into(), total, free });
        let path = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages";
        assert_eq!(told(&node(4, 0)), (Severity::Fix, &*format!("echo 36 > {path}")));
        assert_eq!(node(4, 1).level, Severity::Ok);
    }

    #[test]
    fn what_a_kernel_does_not_say_is_no_fault() {
        assert_eq!(statistics(Some("soon")).level, Severity::Info);
        assert_eq!(thp(None).level, Severity::Info);
    }
}
