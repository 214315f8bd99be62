//! Finds influences that blur a measurement.

use crate::doctor::diagnosis::{fix, info, no, ok};
use crate::doctor::{Diagnosis, DoctorRemedyKind, Remedy};
use seatmap_cell::standing;
use seatmap_data::machine::Topology;
use seatmap_data::statistics::words::{agreeing, counted, joined};
use seatmap_launch::count::CpuCount;
use seatmap_machines::host::clock::CounterFlaw;
use seatmap_machines::host::{HostClock, environment};
use seatmap_os::Root;
use seatmap_os::brake::Brake;
use seatmap_os::cpus::Cpus;
use seatmap_os::holder::Holder;
use seatmap_os::quota::{self, GroupQuota, Quotas};
use seatmap_os::steal::CpuTime;
use seatmap_os::{CpuList, CpuSet};
use std::collections::BTreeMap;
use std::time::Duration;

const STEAL_WATCH: Duration = Duration::from_millis(500);

/// `on`, `off`, `forceoff` (Documentation/ABI, sysfs-devices-system-cpu).
const SMT_CONTROL: &str = "/sys/devices/system/cpu/smt/control";

pub(crate) const NO_CORES: &str = "not known: the kernel does not report which PUs share a core";

/// In batches of 50 round trips, 10 ns are the 0.2 ns that a figure may hide.
const COARSE_STEP_NS: f64 = 10.0;

/// Examines this computer, in about half a second while it observes stolen time.
pub fn examine(topology: &Topology) -> Vec<Diagnosis> {
    let before = CpuTime::now();
    std::thread::sleep(STEAL_WATCH);
    let steal_percent = before.and_then(|before| CpuTime::now()?.stolen_percent_since(before));
    let environment = environment::read();
    let root = Root::new("/");
    let mut found = vec![
        clock(&HostClock::calibrated()),
        hypervisor(environment.hypervisor.as_deref()),
        steal(steal_percent),
        smt(topology),
        load(environment.load_average, topology.pus.len()),
    ];
    found.extend(of_settings(&root, topology));
    let quotas = Quotas::of_self(&root);
    let online = seatmap_os::layout::online(&root).map_or(1, |all| all.len());
    found.push(quota(&quotas, online));
    found.extend(quotas.brakes.iter().map(brake));
    match Cpus::read() {
        Ok(cpus) => found.extend([cpuset(&cpus, &standing(&root)), offline(&root, &cpus)]),
        Err(error) => found.push(info("cpuset", format!("not known: {error}"))),
    }
    found
}

pub(crate) fn of_settings(root: &Root, topology: &Topology) -> [Diagnosis; 3] {
    [
        governor(root, environment::governor(root).as_deref()),
        turbo(root, environment::turbo(root)),
        numa_balancing(root, topology),
    ]
}

fn clock(clock: &HostClock) -> Diagnosis {
    let found = format!("{}, step {:.2} ns", clock.source().word(), clock.step_ns());
    if let Some(flaw) = clock.flaw() {
        let remedy = match flaw {
            CounterFlaw::NotInvariant => {
                "the processor has no invariant counter; in a VM, enable it on the host (invtsc)"
            }
            CounterFlaw::Distrusted => {
                "the kernel does not trust the processor's counter; if the counter is reliable, \
                 start the kernel with tsc=reliable"
            }
        };
        no("clock", found + "; each reading costs tens of ns", remedy)
    } else if clock.step_ns() > COARSE_STEP_NS {
        info("clock", found + ": coarse; batches are longer to compensate")
    } else {
        ok("clock", found)
    }
}

fn hypervisor(name: Option<&str>) -> Diagnosis {
    match name {
        None => info("hypervisor", "not known: this system does not report it"),
        Some("none") => ok("hypervisor", "none"),
        Some(name) => {
            let found = format!(
                "{name}: its host may move or stop vCPUs, so one pair can show several distances"
            );
            let remedy = "measure on bare metal, or in a VM with pinned vCPUs; 'multi-regime' \
                          marks affected pairs";
            no("hypervisor", found, remedy)
        }
    }
}

fn steal(percent: Option<f64>) -> Diagnosis {
    let Some(percent) = percent else { return info("steal", "not known: cannot read /proc/stat") };
    let found = format!("other guests took {percent:.1} % of the CPU time during this check");
    if percent > 1.0 {
        no("steal", found, "use a quieter or dedicated host")
    } else {
        ok("steal", found)
    }
}

fn governor(root: &Root, name: Option<&str>) -> Diagnosis {
    match name {
        Some("performance") => ok("governor", "performance"),
        Some(name) => {
            let files = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
            let remedy =
                Remedy::write_matching(root, DoctorRemedyKind::SetGovernor, files, "performance");
            fix("governor", format!("{name}: the frequency follows the load"), remedy)
        }
        None => info("governor", "this system cannot set the frequency"),
    }
}

fn turbo(root: &Root, allowed: Option<bool>) -> Diagnosis {
    match allowed {
        Some(false) => ok("turbo", "off"),
        Some(true) => {
            let found = "on: distances are shorter with few busy cores than with many";
            let of_intel = "/sys/devices/system/cpu/intel_pstate/no_turbo";
            // intel_pstate's switch disables turbo, that of other drivers enables it.
            let (path, off) = if root.has(of_intel) {
                (of_intel, "1")
            } else {
                ("/sys/devices/system/cpu/cpufreq/boost", "0")
            };
            let remedy = Remedy::write(root, DoctorRemedyKind::TurnTurboOff, path, off);
            fix("turbo", found, remedy)
        }
        None => info("turbo", "not known"),
    }
}

fn smt(topology: &Topology) -> Diagnosis {
    if topology.pus.iter().any(|pu| pu.core.is_none()) {
        return info("smt", NO_CORES);
    }
    let threads = topology.pus.iter().filter_map(|pu| pu.smt).max().map_or(1, |rank| rank + 1);
    if threads == 1 {
        return ok("smt", "one PU a core");
    }
    let found =
        format!("{} a core: work on a sibling slows the measured pair", counted(threads, "PU"));
    info("smt", found).with(Remedy::advice("keep siblings idle while measuring"))
}

fn load(average: Option<f64>, pus: usize) -> Diagnosis {
    let Some(average) = average else { return info("load", "not known") };
    let found = format!("load average {average:.2} on {}", counted(pus, "PU"));
    if average > 0.25 * pus as f64 {
        let remedy =
            Remedy::advice("stop other programs; interrupted batches are discarded and counted");
        fix("load", found, remedy)
    } else {
        ok("load", found)
    }
}

fn numa_balancing(root: &Root, topology: &Topology) -> Diagnosis {
    let subject = "numa balancing";
    let path = "/proc/sys/kernel/numa_balancing";
    let setting = root.read(path).ok();
    if topology.pus.iter().any(|pu| pu.numa.is_none()) {
        return info(subject, "not known: the kernel does not report the nodes");
    }
    // A kernel without NUMA balancing lacks this file.
    if topology.count(|pu| pu.numa) < 2 || matches!(setting.as_deref(), None | Some("0")) {
        return ok(subject, "off, or one node");
    }
    let remedy = Remedy::write(root, DoctorRemedyKind::TurnNumaBalancingOff, path, "0");
    fix(subject, "on: the kernel may move the page of the measured line", remedy)
}

fn quota(quotas: &Quotas, cpus: usize) -> Diagnosis {
    let subject = "quota";
    let Some(tightest) = quotas.tightest() else {
        return match &quotas.unseen {
            None => ok(subject, "no control group limits the CPU time"),
            Some(why) => info(subject, format!("none visible: {why}")),
        };
    };
    let words = tightest.words();
    // The kernel limits a version 1 group to the quota of its parent, so the outermost is raised
    // first.
    let low: Vec<&GroupQuota> =
        quotas.all.iter().rev().filter(|quota| quota.cpus < cpus as f64).collect();
    if low.is_empty() {
        let found = format!("{words}: enough for {}", counted(cpus, "CPU"));
        // A hidden outer group may have a lower quota.
        return match &quotas.unseen {
            None => ok(subject, found),
            Some(why) => info(subject, format!("{found}; others not visible: {why}")),
        };
    }
    let used_up = tightest.throttled.map_or_else(String::new, |periods| {
        format!(" ({periods} so far)", periods = counted(periods, "period"))
    });
    let limits = CpuCount { mask: cpus, quota: Some(tightest.cpus), ..CpuCount::default() };
    let fit = limits.threads();
    let found = format!(
        "the control group {group} may use {words}; when that is used up, the kernel stops its \
         threads{used_up}; {threads} {verb}: measure no more CPUs at once, or raise the quota",
        group = tightest.group,
        threads = counted(fit, "thread"),
        verb = agreeing(fit, "fits", "fit")
    );
    let closed: Vec<&str> =
        low.iter().filter(|quota| quota.is_read_only).map(|quota| &*quota.group).collect();
    let remedy = if closed.is_empty() {
        let raise =
            |low: &&GroupQuota| quota::raise(&low.file, low.period_us, low.unit.as_deref(), cpus);
        Remedy::new(DoctorRemedyKind::RaiseQuota, joined(low.iter().map(raise), "; "))
    } else {
        let closed = closed.join(" and ");
        Remedy::ask(&Root::new("/"), &format!("raise the quota of the control group {closed}"))
    };
    fix(subject, found, remedy)
}

fn brake(brake: &Brake) -> Diagnosis {
    let found = format!("the control group {} is {}", brake.group, brake.words());
    let remedy = if brake.is_read_only {
        Remedy::ask(&Root::new("/"), &format!("change {}", brake.file))
    } else {
        Remedy::new(DoctorRemedyKind::ReleaseGroup, brake.release())
    };
    fix("group", found, remedy)
}

/// The CPUs of this process, and why others are missing.
fn cpuset(cpus: &Cpus, cells: &BTreeMap<String, CpuSet>) -> Diagnosis {
    let subject = "cpuset";
    let [online, allowed, set_apart]: [CpuSet; 3] =
        [&cpus.online, &cpus.allowed, &cpus.set_apart].map(|cpus| cpus.iter().copied().collect());
    if !set_apart.is_empty() && cpus.reachable().len() == online.len() {
        let found = format!(
            "all online CPUs: {allowed} by default, {set_apart} only if named (isolated at boot)"
        );
        return ok(subject, found);
    }
    if allowed.len() >= online.len() {
        return ok(subject, format!("all online CPUs, {allowed}"));
    }
    let found = format!("this process may use {} of {} online", allowed.named(), online.len());
    let holder = Holder::among(cells, &online.without(&allowed));
    // Leaving the control group would break the cell's guarantee.
    let (found, advice) = if holder.is_unknown() {
        (found, "run it outside taskset or the cgroup to measure the other CPUs")
    } else {
        let advice = "measure after the cell has ended ('seatmap cell list')";
        (format!("{found}: {}", holder.cells()), advice)
    };
    info(subject, found).with(Remedy::advice(advice))
}

pub(crate) fn offline(root: &Root, cpus: &Cpus) -> Diagnosis {
    let subject = "offline";
    let offline = cpus.offline();
    if offline.is_empty() {
        return ok(subject, "no CPU is offline");
    }
    let are = agreeing(offline.len(), "is", "are");
    // With SMT off, the kernel starts no single second thread.
    let remedy = match root.read(SMT_CONTROL).as_deref() {
        Ok("off") => Remedy::write(root, DoctorRemedyKind::AllowSmt, SMT_CONTROL, "on"),
        Ok("forceoff") => {
            Remedy::advice("start the kernel without nosmt=force, or turn SMT on in the firmware")
        }
        _ => Remedy::write_all(root, DoctorRemedyKind::BringOnline, &switches(&offline), "1"),
    };
    let found = format!("{} {are} offline and will not be measured", CpuList(offline).named());
    info(subject, found).with(remedy)
}

pub(crate) fn switches(cpus: &[u32]) -> Vec<String> {
    cpus.iter().map(|cpu| format!("/sys/devices/system/cpu/cpu{cpu}/online")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use crate::doctor::fixture::Fixture;
    use seatmap_data::machine::Pu;

    #[test]
    fn disturbances_have_a_remedy() {
        let root = Root::new("/nowhere");
        assert_eq!(governor(&root, Some("powersave")).level, Severity::Fix);
        assert_eq!(governor(&root, Some("performance")).level, Severity::Ok);
        assert_eq!(turbo(&root, Some(true)).level, Severity::Fix);
        assert_eq!(steal(Some(3.0)).level, Severity::No);
        assert_eq!(load(Some(2.0), 4).level, Severity::Fix);
        assert_eq!(load(Some(0.2), 4).level, Severity::Ok);
        let present = vec![0, 1, 2];
        let online = vec![0, 1];
        let allowed = vec![1];
        let cpus = Cpus { present, online, allowed, set_apart: Vec::new() };
        let no_cell = BTreeMap::new();
        assert!(cpuset(&cpus, &no_cell).remedy.is_some());
        assert!(offline(&root, &cpus).found.contains("CPU 2 is"));
        let cells = BTreeMap::from([("bench-7".to_owned(), CpuSet::single(0))]);
        let in_cell = cpuset(&cpus, &cells);
        let sentence = "this process may use CPU 1 of 2 online: the cell bench-7 has CPU 0";
        assert_eq!(in_cell.found, sentence);
        assert!(!in_cell.remedy.unwrap().text.contains("cgroup"));
        let apart = Cpus { set_apart: vec![0], ..cpus };
        let apart = cpuset(&apart, &no_cell);
        assert_eq!((apart.level, apart.remedy), (Severity::Ok, None));
    }

    #[test]
    fn quota_remedy_raises_the_quota() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().display().to_string();
        let root = Root::new("/");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/cpu.max", "50000 100000\n");
        write("a/cpu.stat", "nr_throttled 3\n");
        write("a/b/cpu.cfs_quota_us", "20000\n");
        write("a/b/cpu.cfs_period_us", "50000\n");
        let read = || {
            let quota = |name: &str| {
                let groups = [format!("{base}/{name}")];
                groups.iter().find_map(|folder| GroupQuota::of_folder(&root, folder))
            };
            Quotas {
                all: ["a/b", "a"].iter().filter_map(|name| quota(name)).collect(),
                ..Quotas::default()
            }
        };
        let found = quota(&read(), 2);
        assert!(
            found.level == Severity::Fix && found.found.contains("0.4 CPUs in periods of 50 ms"),
            "{found:?}"
        );
        assert!(found.found.contains("; 1 thread fits: measure no more CPUs at once"), "{found:?}");
        let remedy = found.remedy.unwrap().text;
        assert!(
            remedy.starts_with("echo 200000 100000 > ") && remedy.contains("; echo 100000 > "),
            "{remedy}"
        );
        assert!(std::process::Command::new("sh").args(["-c", &remedy]).status().unwrap().success());
        assert_eq!(quota(&read(), 2).level, Severity::Ok);
        assert_eq!(quota(&Quotas::default(), 2).level, Severity::Ok);
        let hidden = Quotas { unseen: Some("a container".to_owned()), ..Quotas::default() };
        assert_eq!(quota(&hidden, 2).level, Severity::Info);
        let high = Quotas { unseen: hidden.unseen, ..read() };
        let found = quota(&high, 2);
        assert_eq!(found.level, Severity::Info, "a group above may have a lower one");
        assert!(
            found.found.ends_with(": enough for 2 CPUs; others not visible: a container"),
            "{found:?}"
        );
    }

    fn balanced(setting: &str) -> Fixture {
        Fixture::new(&[("/proc/sys/kernel/numa_balancing", setting)])
    }

    #[test]
    fn numa_balancing_matters_only_with_two_nodes() {
        let pus = |nodes: u32| Topology {
            pus: (0..2).map(|os| Pu { os, numa: Some(os % nodes), ..Pu::default() }).collect(),
        };
        assert_eq!(numa_balancing(&balanced("1").root, &pus(2)).level, Severity::Fix);
        assert_eq!(numa_balancing(&balanced("1").root, &pus(1)).level, Severity::Ok);
        assert_eq!(numa_balancing(&balanced("0").root, &pus(2)).level, Severity::Ok);
    }

    #[test]
    fn unknown_settings_are_not_reported_ok() {
        let unknown = Topology::unknown([0, 1]);
        let root = Root::new("/nowhere");
        let found = [hypervisor(None), smt(&unknown), numa_balancing(&root, &unknown)];
        for found in found.into_iter().chain([
            steal(None),
            governor(&root, None),
            turbo(&root, None),
            load(None, 2),
        ]) {
            assert_eq!(found.level, Severity::Info, "{found:?}");
        }
    }

    #[test]
    fn examination_covers_every_subject() {
        let found = examine(&seatmap_machines::host::topology::of_host().unwrap());
        let subjects: Vec<_> = found.iter().map(|diagnosis| diagnosis.subject).collect();
        for subject in [
            "clock",
            "hypervisor",
            "steal",
            "governor",
            "turbo",
            "smt",
            "load",
            "cpuset",
            "offline",
        ] {
            assert!(subjects.contains(&subject), "{subject}");
        }
    }
}
