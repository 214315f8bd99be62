//! SMT siblings, daemons and the clock.

use super::text::{read, shown};
use crate::doctor::{Diagnosis, DoctorRemedyKind, Remedy, Severity};
use seatmap_data::machine::Topology;
use seatmap_data::statistics::words::agreeing;
use seatmap_os::CpuList;
use seatmap_os::root::FileError;
use seatmap_os::{Root, Tid, rights, task, visibility};

/// Daemons that move interrupts or reset settings without notice; also their units' names.
const DAEMONS: [&str; 2] = ["irqbalance", "tuned"];

/// Exists if systemd runs the computer (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";

const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";

/// Clocks readable without a system call (vDSO of x86-64 and 64-bit Arm).
const QUICK_CLOCKS: [&str; 4] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

pub fn examine(root: &Root, topology: &Topology, cpus: &[u32]) -> Vec<Diagnosis> {
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

pub fn neighbours(topology: &Topology, cpus: &[u32]) -> Vec<u32> {
    let cores: Vec<_> =
        topology.pus.iter().filter(|pu| cpus.contains(&pu.os)).filter_map(|pu| pu.core).collect();
    let outside = topology.pus.iter().filter(|pu| !cpus.contains(&pu.os));
    outside.filter(|pu| pu.core.is_some_and(|core| cores.contains(&core))).map(|pu| pu.os).collect()
}

fn siblings(root: &Root, topology: &Topology, cpus: &[u32]) -> Diagnosis {
    let subject = "smt siblings";
    if topology.pus.iter().any(|pu| pu.core.is_none()) {
        return Diagnosis::new(
            subject,
            Severity::Info,
            "not known: the kernel does not report which PUs share a core",
            None,
        );
    }
    let outside = neighbours(topology, cpus);
    if outside.is_empty() {
        return Diagnosis::new(
            subject,
            Severity::Ok,
            "no PU outside shares a core with these CPUs",
            None,
        );
    }
    let outside = CpuList(outside);
    let found = format!(
        // Plural: a verb stands in the braces.
        "{} {} cores with these CPUs and slow{} them when busy: include {them}, or take {them} \
         offline",
        outside.named(),
        agreeing(outside.0.len(), "shares", "share"),
        agreeing(outside.0.len(), "s", ""),
        them = agreeing(outside.0.len(), "it", "them"),
    );
    let switches: Vec<String> =
        outside.0.iter().map(|cpu| format!("/sys/devices/system/cpu/cpu{cpu}/online")).collect();
    // On most computers the first CPU cannot be stopped, on some virtual ones no CPU.
    let remedy = if switches.iter().all(|switch| root.has(switch)) {
        Remedy::write_all(root, DoctorRemedyKind::TakeOffline, &switches, "0")
    } else {
        let mut all = [cpus, &outside.0].concat();
        all.sort_unstable();
        Remedy::advice(format!(
            "take whole cores: name --cpus {}, or CPUs of other cores",
            shown(&all)
        ))
    };
    Diagnosis::new(subject, Severity::Fix, found, Some(remedy))
}

fn running(root: &Root) -> Result<Vec<(Tid, String)>, FileError> {
    Ok(task::processes(root)?.filter_map(|pid| Some((pid, task::name(root, pid)?))).collect())
}

/// `hidden` says why some may be invisible.
fn daemons(running: &[(Tid, String)], hidden: Option<&str>, has_systemd: bool) -> Diagnosis {
    let subject = "daemons";
    let names: Vec<&str> =
        DAEMONS.into_iter().filter(|daemon| !pids_of(running, daemon).is_empty()).collect();
    if !names.is_empty() {
        let found = format!("{} may undo the settings of a cell", names.join(" and "));
        // 'tuned-adm off' is not enough: the daemon remains and changes everything with the next
        // profile.
        let command = if has_systemd {
            format!("systemctl stop {}", names.join(" "))
        } else {
            format!(
                "kill {}",
                names.iter().flat_map(|name| pids_of(running, name)).collect::<Vec<_>>().join(" ")
            )
        };
        return Diagnosis::new(
            subject,
            Severity::Fix,
            found,
            Some(Remedy::new(DoctorRemedyKind::StopDaemon, command)),
        );
    }
    match hidden {
        None => Diagnosis::new(
            subject,
            Severity::Ok,
            "none that moves interrupts (irqbalance, tuned)",
            None,
        ),
        Some(why) => Diagnosis::new(subject, Severity::Info, format!("none visible: {why}"), None),
    }
}

fn pids_of(running: &[(Tid, String)], daemon: &str) -> Vec<String> {
    running.iter().filter(|(_, name)| name == daemon).map(|(pid, _)| pid.to_string()).collect()
}

fn clocksource(root: &Root) -> Diagnosis {
    let subject = "clocksource";
    let path = format!("{CLOCKS}/current_clocksource");
    let Some(name) = read(root, &path) else {
        return Diagnosis::new(subject, Severity::Info, "not known", None);
    };
    if QUICK_CLOCKS.contains(&name.as_str()) {
        return Diagnosis::new(subject, Severity::Ok, name, None);
    }
    let found = format!("{name}: reading the clock takes a system call");
    let available = read(root, &format!("{CLOCKS}/available_clocksource")).unwrap_or_default();
    match QUICK_CLOCKS
        .into_iter()
        .find(|clock| available.split_whitespace().any(|name| name == *clock))
    {
        Some(quick) => {
            let remedy = Remedy::write(root, DoctorRemedyKind::ChooseClock, &path, quick);
            Diagnosis::new(subject, Severity::Fix, found, Some(remedy))
        }
        None => {
            // On Arm the kernel omits the counter if the firmware does not describe it.
            let advice = if cfg!(target_arch = "x86_64") {
                "if the processor's counter is reliable, start the kernel with tsc=reliable"
            } else {
                "update the firmware: the kernel does not find the processor's counter"
            };
            Diagnosis::new(subject, Severity::No, found, Some(Remedy::advice(advice)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::fixture::Fixture;
    use seatmap_data::machine::Pu;

    fn smt() -> Topology {
        Topology { pus: (0..8).map(|os| Pu { os, core: Some(os % 4), ..Pu::default() }).collect() }
    }

    #[test]
    fn half_core_has_a_neighbour() {
        assert_eq!(neighbours(&smt(), &[2, 3, 6]), [7]);
        let fixture = Fixture::new(&[("/sys/devices/system/cpu/cpu7/online", "1")]);
        let remedy = siblings(&fixture.root, &smt(), &[2, 3, 6]).remedy.unwrap();
        assert_eq!(remedy.text, "echo 0 > /sys/devices/system/cpu/cpu7/online");
        assert_eq!(siblings(&fixture.root, &smt(), &[2, 6]).level, Severity::Ok);
        assert_eq!(siblings(&fixture.root, &Topology::unknown([0, 1]), &[1]).level, Severity::Info);
        let remedy = siblings(&fixture.root, &smt(), &[4]).remedy.unwrap();
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
