//! The cost of waking a sleeping thread, on another CPU and on the same one.
//!
//! Programs that answer requests pay it per message. In a virtual machine the hypervisor must
//! resume the halted CPU.

use crate::doctor::diagnosis::{info, ok};
use crate::doctor::isolation::core_of;
use crate::doctor::{Diagnosis, Remedy};
use seatmap_data::document::with_causes;
use seatmap_data::machine::Topology;
use seatmap_data::statistics::words::{figure, joined};
use seatmap_data::statistics::{Summary, summarise};
use seatmap_machines::host::{HostWakeups, WakeupError, environment};
use seatmap_os::idle::IdleSettings;
use seatmap_os::{Root, affinity};
use std::time::{Duration, Instant};

const SUBJECT: &str = "wakeups";

/// 2,000 round trips of each pair, in turns, so a disturbance affects both.
const PASSES: usize = 20;
const BATCHES: u32 = 4;
const ROUND_TRIPS: u32 = 25;

/// On a busy computer there are fewer passes.
const LONGEST: Duration = Duration::from_millis(600);

/// From this cost on, in multiples of the same CPU's, programs that answer requests may gain from
/// one CPU.
const MAY_GAIN_RATIO: f64 = 2.0;

/// From these costs on, settings are worth their price: a halted virtual CPU takes tens of
/// microseconds to resume.
const EXPENSIVE_NS: f64 = 10_000.0;
const EXPENSIVE_RATIO: f64 = 5.0;

/// The argument for idle CPUs that never halt.
const NEVER_HALT: &str = if cfg!(target_arch = "x86_64") { "idle=poll" } else { "nohlt" };

/// One wakeup, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WakeupCost {
    other_cpu: Summary,
    same_cpu: Summary,
}

/// Measures wakeups on two CPUs of this process, in less than a second.
pub fn examine(topology: &Topology) -> Diagnosis {
    let allowed = affinity::current().unwrap_or_default();
    let Some(pair) = pair(topology, &allowed) else {
        return unmeasured("it needs two CPUs, and this process may use only one");
    };
    match measured(pair) {
        Ok(Some(cost)) => {
            let hypervisor = environment::read().hypervisor;
            judged(&cost, &IdleSettings::read(&Root::new("/")), hypervisor.as_deref())
        }
        Ok(None) => unmeasured("no round trip was timed"),
        Err(error) => unmeasured(&with_causes(&error)),
    }
}

fn unmeasured(why: &str) -> Diagnosis {
    info(SUBJECT, format!("not measured: {why}"))
}

/// Two CPUs of different cores, if any.
fn pair(topology: &Topology, allowed: &[u32]) -> Option<[u32; 2]> {
    let (first, others) = allowed.split_first()?;
    let core = core_of(topology, *first);
    let apart = others.iter().find(|cpu| core_of(topology, **cpu) != core);
    let other = apart.or(others.first())?;
    Some([*first, *other])
}

fn measured([cpu, other]: [u32; 2]) -> Result<Option<WakeupCost>, WakeupError> {
    let host = HostWakeups::default();
    let begun = Instant::now();
    let mut passes = [Vec::new(), Vec::new()];
    while passes[0].len() < PASSES && begun.elapsed() < LONGEST {
        for (pair, passes) in [[cpu, other], [cpu, cpu]].into_iter().zip(&mut passes) {
            let round_trips_ns = host.round_trips_ns(pair, BATCHES, ROUND_TRIPS)?;
            // A round trip is two wakeups.
            passes.push(round_trips_ns.into_iter().map(|ns| ns / 2.0).collect());
        }
    }
    let [other_cpu, same_cpu] = passes.map(|passes| summarise(&passes, 0));
    Ok(other_cpu.zip(same_cpu).map(|(other_cpu, same_cpu)| WakeupCost { other_cpu, same_cpu }))
}

fn judged(cost: &WakeupCost, idle: &IdleSettings, hypervisor: Option<&str>) -> Diagnosis {
    let WakeupCost { other_cpu, same_cpu } = cost;
    let costs = format!("{} on another CPU, {} on the same CPU", us(other_cpu), us(same_cpu));
    let ratio = other_cpu.median / same_cpu.median;
    if ratio <= MAY_GAIN_RATIO {
        return ok(SUBJECT, costs);
    }
    let found = format!(
        "{costs}: programs that answer requests may gain from one CPU (seatmap advise --pid SERVER)"
    );
    let is_expensive = other_cpu.median > EXPENSIVE_NS && ratio > EXPENSIVE_RATIO;
    let remedy =
        (is_expensive && !idle.never_halts).then(|| Remedy::advice(ways(idle, hypervisor)));
    Diagnosis { remedy, ..info(SUBJECT, found) }
}

fn us(cost: &Summary) -> String {
    let digits = usize::from(cost.median < 9_950.0);
    let [median, low, high] =
        [cost.median, cost.ci95_low, cost.ci95_high].map(|ns| figure(ns / 1e3, digits));
    format!("{median} us [{low} to {high}]")
}

/// The settings that make idle CPUs wake faster, with the price of each.
fn ways(idle: &IdleSettings, hypervisor: Option<&str>) -> String {
    let mut ways = Vec::new();
    let is_kvm = hypervisor == Some("KVM");
    if is_kvm && !idle.polls_before_halt() {
        ways.push(
            "'modprobe cpuidle_haltpoll force=1' here (idle CPUs first spin for up to 200 us, on \
             CPU time of the host)",
        );
    }
    if is_kvm {
        ways.push("kvm's halt_poll_ns on the host (the same, for all its guests)");
    }
    if hypervisor == Some("none") {
        ways.push("'cpupower idle-set --disable-by-latency 10' (idle CPUs use more power)");
    }
    let [driver, governor] =
        [&idle.driver, &idle.governor].map(|name| name.as_deref().unwrap_or("unknown"));
    let never = format!(
        "{NEVER_HALT} on the kernel's command line (idle CPUs never halt: most power, and in a \
         guest all of their time on the host)"
    );
    format!(
        "faster wakeups have a price: {}; now the idle driver is {driver}, its governor {governor}",
        joined(ways.into_iter().chain([&*never]), "; or ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use seatmap_data::machine::Pu;

    fn cost(other_us: f64, same_us: f64) -> WakeupCost {
        let [other_cpu, same_cpu] =
            [other_us, same_us].map(|us| summarise(&[vec![us * 1e3; 4]], 0).unwrap());
        WakeupCost { other_cpu, same_cpu }
    }

    fn idle(driver: &str) -> IdleSettings {
        IdleSettings {
            driver: Some(driver.to_owned()),
            governor: Some("menu".to_owned()),
            never_halts: false,
        }
    }

    #[test]
    fn expensive_wakeup_names_gain_and_priced_settings() {
        let found = judged(&cost(34.0, 1.2), &idle("none"), Some("KVM"));
        assert_eq!(found.level, Severity::Info);
        let text = found.found + "\n" + &found.remedy.unwrap().text;
        insta::assert_snapshot!(text.replace(NEVER_HALT, "idle=poll"), @r"
        34 us [34 to 34] on another CPU, 1.2 us [1.2 to 1.2] on the same CPU: programs that answer requests may gain from one CPU (seatmap advise --pid SERVER)
        faster wakeups have a price: 'modprobe cpuidle_haltpoll force=1' here (idle CPUs first spin for up to 200 us, on CPU time of the host); or kvm's halt_poll_ns on the host (the same, for all its guests); or idle=poll on the kernel's command line (idle CPUs never halt: most power, and in a guest all of their time on the host); now the idle driver is none, its governor menu
        ");
    }

    #[test]
    fn ratio_decides_gain_and_cost_decides_settings() {
        let level = |other_us, same_us| {
            let found = judged(&cost(other_us, same_us), &idle("none"), Some("KVM"));
            (found.level, found.remedy.is_some())
        };
        assert_eq!(level(1.9, 1.0), (Severity::Ok, false));
        assert_eq!(level(9.9, 1.0), (Severity::Info, false));
        assert_eq!(level(10.1, 1.0), (Severity::Info, true));
        assert_eq!(level(34.0, 7.0), (Severity::Info, false), "both are slow");
    }

    #[test]
    fn settings_in_force_are_not_proposed() {
        let ways = |idle: &IdleSettings, hypervisor| ways(idle, Some(hypervisor));
        assert!(!ways(&idle("haltpoll"), "KVM").contains("modprobe"));
        assert!(ways(&idle("haltpoll"), "KVM").contains("halt_poll_ns on the host"));
        assert!(!ways(&idle("none"), "Xen").contains("kvm"));
        assert!(ways(&idle("intel_idle"), "none").contains("cpupower idle-set"));
        let polling = IdleSettings { never_halts: true, ..idle("none") };
        assert_eq!(judged(&cost(34.0, 1.2), &polling, Some("KVM")).remedy, None);
    }

    #[test]
    fn pair_prefers_another_core() {
        let pus = (0..4).map(|os| Pu { os, core: Some(os / 2), ..Pu::default() }).collect();
        let topology = Topology { pus };
        assert_eq!(pair(&topology, &[0, 1, 2, 3]), Some([0, 2]));
        assert_eq!(pair(&topology, &[0, 1]), Some([0, 1]));
        assert_eq!(pair(&topology, &[3]), None);
        assert_eq!(pair(&Topology::unknown([0, 1]), &[0, 1]), Some([0, 1]));
    }
}
