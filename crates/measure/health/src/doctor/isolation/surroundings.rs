//! SMT siblings, daemons and the clock.

use crate::doctor::diagnosis::{fix, info, no, ok};
use crate::doctor::measuring::{NO_CORES, switches};
use crate::doctor::{Diagnosis, DoctorRemedyKind, Remedy};
use seatmap_data::machine::{Pu, Topology};
use seatmap_data::statistics::words::{agreeing, joined};
use seatmap_os::root::FileError;
use seatmap_os::{CpuList, CpuSet, Root, Tid, rights, task, visibility};

/// Daemons that move interrupts or reset settings without notice; also their units' names.
const DAEMONS: [&str; 2] = ["irqbalance", "tuned"];

/// Exists if systemd runs the computer (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";

const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";

/// Clocks readable without a system call (vDSO of x86-64 and 64-bit Arm).
const QUICK_CLOCKS: [&str; 4] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

pub fn examine(root: &Root, topology: &Topology, cpus: &CpuSet) -> Vec<Diagnosis> {
    let hidden = visibility::hidden(root).or_else(|| {
        visibility::is_in_container(root)
            .then(|| "a container does not show the processes outside".into())
    });
    let (running, hidden) = match running(root) {
        Ok(running) => (running, hidden),
        Err(error) => (Vec::new(), Some(format!("cannot read {error}: {}", error.source))),
    };
    let mut daemons = daemons(&running, hidden.as_deref(), root.has(SYSTEMD));
    let is_foreign = running.iter().any(|(pid, name)| {
        DAEMONS.contains(&name.as_str()) && rights::is_of_unknown_user(root, *pid)
    });
    if let Some(remedy) = daemons.remedy.as_mut().filter(|_| is_foreign) {
        *remedy = Remedy::advice(format!("ask root of the host to run '{}'", remedy.text));
    }
    vec![siblings(root, topology, cpus), daemons, clocksource(root)]
}

pub fn neighbours(topology: &Topology, cpus: &CpuSet) -> CpuList {
    let (inside, outside): (Vec<&Pu>, Vec<&Pu>) =
        topology.pus.iter().partition(|pu| cpus.contains(pu.os));
    let shares = |pu: &&Pu| pu.core.is_some() && inside.iter().any(|other| other.core == pu.core);
    CpuList(outside.into_iter().filter(shares).map(|pu| pu.os).collect())
}

fn siblings(root: &Root, topology: &Topology, cpus: &CpuSet) -> Diagnosis {
    let subject = "smt siblings";
    if topology.pus.iter().any(|pu| pu.core.is_none()) {
        return info(subject, NO_CORES);
    }
    let outside = neighbours(topology, cpus);
    if outside.0.is_empty() {
        return ok(subject, "no PU outside shares a core with these CPUs");
    }
    let found = format!(
        // Plural: a verb stands in the braces.
        "{} {} cores with these CPUs and slow{} them when busy: include {them}, or take {them} \
         offline",
        outside.named(),
        agreeing(outside.0.len(), "shares", "share"),
        agreeing(outside.0.len(), "s", ""),
        them = agreeing(outside.0.len(), "it", "them"),
    );
    let switches = switches(&outside.0);
    // On most computers the first CPU cannot be stopped, on some virtual ones no CPU.
    let remedy = if switches.iter().all(|switch| root.has(switch)) {
        Remedy::write_all(root, DoctorRemedyKind::TakeOffline, &switches, "0")
    } else {
        let all = cpus.with(&(&outside).into());
        Remedy::advice(format!("take whole cores: name --cpus {all}, or CPUs of other cores"))
    };
    fix(subject, found, remedy)
}

fn running(root: &Root) -> Result<Vec<(Tid, String)>, FileError> {
    Ok(task::processes(root)?.filter_map(|pid| Some((pid, task::name(root, pid)?))).collect())
}

/// `hidden` says why some may be invisible.
fn daemons(running: &[(Tid, String)], hidden: Option<&str>, has_systemd: bool) -> Diagnosis {
    let subject = "daemons";
    let pids = |daemon: &'static str| {
        let own = running.iter().filter(move |(_, name)| *name == daemon);
        own.map(|(pid, _)| pid.to_string())
    };
    let names: Vec<&'static str> =
        DAEMONS.into_iter().filter(|daemon| pids(daemon).next().is_some()).collect();
    if names.is_empty() {
        return match hidden {
            None => ok(subject, "none that moves interrupts (irqbalance, tuned)"),
            Some(why) => info(subject, format!("none visible: {why}")),
        };
    }
    let found = format!("{} may undo the settings of a cell", names.join(" and "));
    // 'tuned-adm off' is not enough: the daemon remains and changes everything with the next
    // profile.
    let command = if has_systemd {
        format!("systemctl stop {}", names.join(" "))
    } else {
        format!("kill {}", joined(names.into_iter().flat_map(pids), " "))
    };
    fix(subject, found, Remedy::new(DoctorRemedyKind::StopDaemon, command))
}

fn clocksource(root: &Root) -> Diagnosis {
    let subject = "clocksource";
    let path = format!("{CLOCKS}/current_clocksource");
    let Ok(name) = root.read(&path) else {
        return info(subject, "not known");
    };
    if QUICK_CLOCKS.contains(&name.as_str()) {
        return ok(subject, name);
    }
    let found = format!("{name}: reading the clock takes a system call");
    let available = root.read(&format!("{CLOCKS}/available_clocksource")).unwrap_or_default();
    match QUICK_CLOCKS
        .into_iter()
        .find(|clock| available.split_whitespace().any(|name| name == *clock))
    {
        Some(quick) => {
            let remedy = Remedy::write(root, DoctorRemedyKind::ChooseClock, &path, quick);
            fix(subject, found, remedy)
        }
        None => {
            // On Arm the kernel omits the counter if the firmware does not describe it.
            let advice = if cfg!(target_arch = "x86_64") {
                "if the processor's counter is reliable, start the kernel with tsc=reliable"
            } else {
                "update the firmware: the kernel does not find the processor's counter"
            };
            no(subject, found, advice)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use crate::doctor::fixture::Fixture;

    fn set(cpus: &str) -> CpuSet {
        CpuSet::of_list(cpus).unwrap()
    }

    fn smt() -> Topology {
        Topology { pus: (0..8).map(|os| Pu { os, core: Some(os % 4), ..Pu::default() }).collect() }
    }

    #[test]
    fn half_core_has_a_neighbour() {
        assert_eq!(neighbours(&smt(), &set("2,3,6")).0, [7]);
        let fixture = Fixture::new(&[("/sys/devices/system/cpu/cpu7/online", "1")]);
        let remedy = siblings(&fixture.root, &smt(), &set("2,3,6")).remedy.unwrap();
        assert_eq!(remedy.text, "echo 0 > /sys/devices/system/cpu/cpu7/online");
        assert_eq!(siblings(&fixture.root, &smt(), &set("2,6")).level, Severity::Ok);
        assert_eq!(
            siblings(&fixture.root, &Topology::unknown([0, 1]), &set("1")).level,
            Severity::Info
        );
        let remedy = siblings(&fixture.root, &smt(), &set("4")).remedy.unwrap();
        let sentence = "take whole cores: name --cpus 0,4, or CPUs of other cores";
        assert_eq!(
            (remedy.kind, remedy.text.as_str()),
            (DoctorRemedyKind::Advice, sentence),
            "CPU 0 cannot be stopped"
        );
    }

    #[test]
    fn interrupt_movers_are_named() {
        let running = [(1, "init"), (7, "irqbalance"), (8, "tuned-gui")]
            .map(|(pid, name)| (pid, name.to_owned()));
        let hidden = Some("a container");
        for hidden in [None, hidden] {
            let found = daemons(&running, hidden, true);
            assert_eq!(found.found, "irqbalance may undo the settings of a cell");
            assert_eq!(found.remedy.unwrap().text, "systemctl stop irqbalance");
        }
        assert_eq!(daemons(&running, None, false).remedy.unwrap().text, "kill 7");
        assert_eq!(daemons(&running[..1], None, true).level, Severity::Ok);
        assert_eq!(daemons(&running[..1], hidden, true).level, Severity::Info);
    }

    #[test]
    fn slow_clock_sources_are_reported() {
        let clock = |current: &str, available: &str| {
            let current = (&*format!("{CLOCKS}/current_clocksource"), current);
            let available = (&*format!("{CLOCKS}/available_clocksource"), available);
            clocksource(&Fixture::new(&[current, available]).root).level
        };
        assert_eq!(clock("tsc", "tsc hpet"), Severity::Ok);
        assert_eq!(clock("arch_sys_counter", "arch_sys_counter"), Severity::Ok);
        assert_eq!(clock("hpet", "tsc hpet"), Severity::Fix);
        assert_eq!(
            clock("hpet", "hpet acpi_pm"),
            Severity::No,
            "the kernel found the counter unstable"
        );
        assert_eq!(clocksource(&Fixture::new(&[]).root).level, Severity::Info);
    }
}
