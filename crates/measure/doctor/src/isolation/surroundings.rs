//! Neighbours, daemons and the clock.

use super::finding;
use super::text::read;
use crate::{Diagnosis, Severity};
use seatmap_machine::Topology;
use seatmap_os::CpuList;
use seatmap_os::root::FileError;
use seatmap_os::{Root, task, visibility};
use seatmap_statistics::words::agreeing;

/// Daemons that move interrupts or reset settings without notice, and how to keep them from it.
const DAEMONS: [(&str, &str); 2] = [("irqbalance", "systemctl stop irqbalance"), ("tuned", "tuned-adm off")];

/// Clocks that a program reads without a system call (vDSO of x86-64 and 64-bit Arm).
const QUICK_CLOCKS: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

/// Looks at all of them.
pub(super) fn examine(topology: &Topology, cpus: &[u32]) -> Vec<Diagnosis> {
    let root = Root::new("/");
    let hidden = visibility::hidden(&root).or_else(|| {
        visibility::is_in_container(&root).then(|| "a container does not show the processes outside".into())
    });
    let (running, hidden) = match running(&root) {
        Ok(running) => (running, hidden),
        Err(error) => (Vec::new(), Some(format!("{error} cannot be read: {}", error.source))),
    };
    let daemons = daemons(&running, hidden.as_deref());
    let clock = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    vec![siblings(topology, cpus), daemons, clocksource(clock.as_deref())]
}

/// PUs outside the set that share a core with one inside it.
pub(super) fn neighbours(topology: &Topology, cpus: &[u32]) -> Vec<u32> {
    let cores: Vec<_> = topology.pus.iter().filter(|pu| cpus.contains(&pu.os)).filter_map(|pu| pu.core).collect();
    let outside = topology.pus.iter().filter(|pu| !cpus.contains(&pu.os));
    outside.filter(|pu| pu.core.is_some_and(|core| cores.contains(&core))).map(|pu| pu.os).collect()
}

fn siblings(topology: &Topology, cpus: &[u32]) -> Diagnosis {
    let subject = "smt siblings";
    if topology.pus.iter().any(|pu| pu.core.is_none()) {
        return finding(subject, Severity::Info, "not known: the kernel does not say which PUs share a core", None);
    }
    let outside = neighbours(topology, cpus);
    match outside.is_empty() {
        true => finding(subject, Severity::Ok, "no PU outside shares a core with these CPUs", None),
        false => {
            let outside = CpuList(outside);
            let found = format!(
                // Plural: a verb stands in the braces.
                "{} {} cores with these and slow{} them while {}: take {} in as well, or offline",
                outside.named(),
                agreeing(outside.0.len(), "shares", "share"),
                agreeing(outside.0.len(), "s", ""),
                agreeing(outside.0.len(), "it works", "they work"),
                agreeing(outside.0.len(), "it", "them"),
            );
            let offline = |cpu: &u32| format!("echo 0 > /sys/devices/system/cpu/cpu{cpu}/online");
            let remedy: Vec<String> = outside.0.iter().map(offline).collect();
            finding(subject, Severity::Fix, found, Some(remedy.join("; ")))
        }
    }
}

/// The names of all processes.
fn running(root: &Root) -> Result<Vec<String>, FileError> {
    Ok(task::processes(root)?.filter_map(|pid| task::name(root, pid)).collect())
}

/// Daemons among the programs that run; `hidden` says why some of these may not be shown.
fn daemons(running: &[String], hidden: Option<&str>) -> Diagnosis {
    let subject = "daemons";
    let found = DAEMONS.iter().filter(|(name, _)| running.iter().any(|running| running == name));
    let (names, remedies): (Vec<&str>, Vec<&str>) = found.copied().unzip();
    if !names.is_empty() {
        // Plural: "runs" is a verb here.
        let found = format!("{} runs and may undo what a cell sets", names.join(" and "));
        return finding(subject, Severity::Fix, found, Some(remedies.join("; ")));
    }
    match hidden {
        None => finding(subject, Severity::Ok, "none that moves interrupts by itself (irqbalance, tuned)", None),
        Some(why) => finding(subject, Severity::Info, format!("none that can be seen: {why}"), None),
    }
}

fn clocksource(name: Option<&str>) -> Diagnosis {
    let subject = "clocksource";
    match name {
        None => finding(subject, Severity::Info, "not known", None),
        Some(name) if QUICK_CLOCKS.contains(&name) => finding(subject, Severity::Ok, name, None),
        Some(name) => {
            let found = format!("{name}: each look at the clock is a system call");
            finding(subject, Severity::Boot, found, Some("tsc=reliable, if the processor's counter is".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_machine::Pu;

    fn smt() -> Topology {
        Topology { pus: (0..8).map(|os| Pu { os, core: Some(os % 4), ..Pu::default() }).collect() }
    }

    #[test]
    fn half_a_core_has_a_neighbour() {
        assert_eq!(neighbours(&smt(), &[2, 3, 6]), [7]);
        let found = siblings(&smt(), &[2, 3, 6]);
        assert!(found.level == Severity::Fix && found.remedy.unwrap().ends_with("cpu7/online"));
        assert_eq!(siblings(&smt(), &[2, 6]).level, Severity::Ok);
        assert_eq!(siblings(&Topology::unknown([0, 1]), &[1]).level, Severity::Info);
    }

    #[test]
    fn who_moves_interrupts_is_named() {
        let running = ["init", "irqbalance", "tuned-gui"].map(str::to_owned);
        let hidden = Some("a container");
        for hidden in [None, hidden] {
            assert_eq!(daemons(&running, hidden).found, "irqbalance runs and may undo what a cell sets");
        }
        assert_eq!(daemons(&running[..1], None).level, Severity::Ok);
        assert_eq!(daemons(&running[..1], hidden).level, Severity::Info);
    }

    #[test]
    fn slow_clocks_are_told() {
        assert_eq!(clocksource(Some("tsc")).level, Severity::Ok);
        assert_eq!(clocksource(Some("hpet")).level, Severity::Boot);
        assert_eq!(clocksource(None).level, Severity::Info);
    }
}
