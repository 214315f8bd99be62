//! `interrupts` and `no-irq`: device interrupts on the seats.

use super::facts::SeatingFacts;
use super::real_time::is_real_time;
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::{CpuActivity, InterruptRate};
use seatmap_data::words::counted_figure;
use seatmap_os::{CpuSet, interrupts};

const SOME_PER_SECOND: f64 = 10.0;

/// A network card's queue next to its reader is a good plan, so this is wrong only for a thread
/// with an isolated CPU or a real-time policy.
pub fn usual(facts: &SeatingFacts) -> Vec<Finding> {
    let no_hz_full = CpuSet::of_list(&facts.seating.kernel.no_hz_full).unwrap_or_default();
    let quiet = facts.isolated.with(&no_hz_full);
    facts
        .seating
        .cpus
        .iter()
        .filter_map(|cpu| {
            let owner = facts
                .sitters
                .iter()
                .find(|one| one.is_bound && one.is_busy() && one.seat() == Some(cpu.cpu))?;
            let is_grave = quiet.contains(cpu.cpu) || is_real_time(&owner.policy);
            let finding = interrupted(facts, "interrupts", cpu)?;
            let what = format!("{}; {} is bound to it", finding.what, owner.named());
            Some(Finding { what, ..finding }.grave_if(is_grave).threads(&[owner]))
        })
        .collect()
}

pub fn none(facts: &SeatingFacts) -> Vec<Finding> {
    let seats = facts.seats();
    let cpus = facts.seating.cpus.iter().filter(|cpu| seats.contains(cpu.cpu));
    cpus.filter_map(|cpu| interrupted(facts, "no-irq", cpu)).collect()
}

/// The kernel's interrupts have letters instead of numbers; each CPU's own ones may have either.
fn is_of_device(interrupt: &&InterruptRate) -> bool {
    !interrupt.is_per_cpu && interrupts::is_of_device(&interrupt.irq)
}

fn interrupted(facts: &SeatingFacts, rule: &str, cpu: &CpuActivity) -> Option<Finding> {
    let mut devices: Vec<&InterruptRate> = cpu.interrupts.iter().filter(is_of_device).collect();
    devices.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
    let per_second: f64 = devices.iter().map(|interrupt| interrupt.per_second).sum();
    let most = devices.first().filter(|_| per_second >= SOME_PER_SECOND)?;
    let what = format!(
        "CPU {} gets {per_second} per second, most from {} (interrupt {})",
        cpu.cpu,
        most.name,
        most.irq,
        per_second = counted_figure(per_second, 0, "device interrupt")
    );
    let finding = Finding::wrong(rule, what)
        .on(&CpuSet::single(cpu.cpu))
        .since(facts.seating.watched_s)
        .measured(per_second, "a second");
    Some(mended(finding, &devices, per_second, &facts.refuge()))
}

/// The kernel's managed ones stay.
fn mended(finding: Finding, devices: &[&InterruptRate], per_second: f64, rest: &CpuSet) -> Finding {
    let mut left = per_second;
    let movable = devices.iter().filter(|device| is_movable(device));
    let moved: Vec<&str> = movable
        .take_while(|device| {
            let is_needed = left >= SOME_PER_SECOND;
            left -= device.per_second;
            is_needed
        })
        .map(|device| device.irq.as_str())
        .collect();
    if left < SOME_PER_SECOND && !rest.is_empty() {
        return finding.mended_by_all(SeatingRemedy::move_interrupts(moved, rest));
    }
    let why = if rest.is_empty() {
        "no CPU is left for them"
    } else {
        "the kernel does not allow moving all of them"
    };
    finding.advised(format!("{why}: use other CPUs, or give the device fewer queues (ethtool -L)"))
}

/// IBM Z shows classes of interrupts, which have no file.
fn is_movable(interrupt: &InterruptRate) -> bool {
    interrupt.is_movable != Some(false) && interrupt.irq.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn interrupts_on_a_seat_are_a_remark() {
        let made = Made::new(4).with("7/7 on 1: 99+0").interrupts(1, "24", "eth0", 900.0);
        assert_eq!(
            made.told(usual),
            "Remark 7 [7] on 1: CPU 1 gets 900 device interrupts per second, most from eth0 (interrupt 24); thread 7 'main' is bound to it -> echo 0,2,3 > /proc/irq/24/smp_affinity_list"
        );
    }

    #[test]
    fn interrupts_on_isolated_seats_are_wrong() {
        let isolated =
            Made::new(4).isolated("1").with("7/7 on 1: 99+0").interrupts(1, "24", "eth0", 900.0);
        assert_eq!(
            isolated.told(usual),
            "Wrong 7 [7] on 1: CPU 1 gets 900 device interrupts per second, most from eth0 (interrupt 24); thread 7 'main' is bound to it -> echo 0,2,3 > /proc/irq/24/smp_affinity_list"
        );
        let real_time =
            Made::new(4).with("7/7 on 1: 99+0").policy("fifo").interrupts(1, "24", "eth0", 900.0);
        assert_eq!(
            real_time.told(usual),
            "Wrong 7 [7] on 1: CPU 1 gets 900 device interrupts per second, most from eth0 (interrupt 24); thread 7 'main' is bound to it -> echo 0,2,3 > /proc/irq/24/smp_affinity_list"
        );
    }

    #[test]
    fn timers_few_interrupts_and_idle_seats_are_healthy() {
        let timers = Made::new(4).with("7/7 on 1: 99+0").interrupts(1, "LOC", "timer", 900.0);
        assert_eq!(timers.told(usual), "");
        let few = Made::new(4).with("7/7 on 1: 99+0").interrupts(1, "24", "eth0", 3.0);
        assert_eq!(few.told(usual), "");
        let idle = Made::new(4).with("7/7 on 1").interrupts(1, "24", "eth0", 900.0);
        assert_eq!(idle.told(usual), "");
        let elsewhere = Made::new(4).with("7/7 on 1: 99+0").interrupts(2, "24", "eth0", 900.0);
        assert_eq!(elsewhere.told(usual), "");
    }

    #[test]
    fn per_cpu_interrupt_is_not_reported() {
        let mut made = Made::new(4).with("7/7 on 1: 99+0").interrupts(1, "14", "arch_timer", 900.0);
        made.seating.cpus[1].interrupts[0].is_per_cpu = true;
        assert_eq!(made.told(none), "");
    }

    #[test]
    fn remedy_moves_enough_interrupts_and_advises_on_managed() {
        let queues = |movable: [Option<bool>; 2]| {
            let made = Made::new(4).with("7/7 on 1: 99+0");
            let mut made = made.interrupts(1, "24", "eth0", 90.0).interrupts(1, "25", "eth1", 20.0);
            let cpu = &mut made.seating.cpus[1];
            cpu.interrupts
                .iter_mut()
                .zip(movable)
                .for_each(|(one, movable)| one.is_movable = movable);
            none(&made.facts()).remove(0)
        };
        let both = "echo 0,2,3 > /proc/irq/24/smp_affinity_list; echo 0,2,3 > /proc/irq/25/smp_affinity_list";
        assert_eq!(queues([None, Some(true)]).remedy.as_deref(), Some(both));
        let managed = queues([Some(false), None]);
        assert!(
            managed.remedy.is_none()
                && managed.advice.is_some_and(|advice| advice.contains("ethtool -L"))
        );
        let class =
            none(&Made::new(4).with("7/7 on 1").interrupts(1, "DAS", "[I/O] DASD", 900.0).facts());
        assert!(class.len() == 1 && class[0].remedy.is_none(), "{class:?}");
    }

    #[test]
    fn no_irq_rule_reports_any_interrupt_on_seat() {
        let made = Made::new(4).with("7/7 on 1-2").interrupts(2, "24", "eth0", 900.0);
        assert_eq!(
            made.interrupts(0, "25", "eth1", 900.0).told(none),
            "Wrong several [] on 2: CPU 2 gets 900 device interrupts per second, most from eth0 (interrupt 24) -> echo 0,3 > /proc/irq/24/smp_affinity_list"
        );
    }
}
