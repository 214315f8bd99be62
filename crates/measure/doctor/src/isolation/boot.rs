//! Settings that only the kernel's command line changes.

use super::backend::Backend;
use super::finding;
use super::irqs::Irqs;
use super::text::{list, mask, read, shown};
use crate::{Diagnosis, Severity};

/// The command line that this kernel was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Boot {
    /// CPUs without a tick while one thread runs; `None` where the kernel was built without NO_HZ_FULL.
    nohz_full: Option<Vec<u32>>,
    /// CPUs outside load balancing, by `isolcpus=` or a partition.
    isolated: Vec<u32>,
    /// CPUs that new interrupts may come to; `None` where the kernel does not say.
    irq_default: Option<Vec<u32>>,
    command_line: String,
}

impl Boot {
    pub(super) fn read() -> Self {
        let cpus = |name: &str| read(&format!("/sys/devices/system/cpu/{name}"));
        Boot {
            nohz_full: cpus("nohz_full").map(|text| list(&text)),
            isolated: list(&cpus("isolated").unwrap_or_default()),
            irq_default: read("/proc/irq/default_smp_affinity").and_then(|text| mask(&text)),
            command_line: read("/proc/cmdline").unwrap_or_default(),
        }
    }

    /// Whether these CPUs have a tick even when one thread runs alone.
    pub(super) fn ticks(&self, cpus: &[u32]) -> bool {
        !covers(self.nohz_full.as_deref().unwrap_or_default(), cpus)
    }

    pub(super) fn tick(&self, cpus: &[u32]) -> Diagnosis {
        let remedy = format!("nohz_full={}", shown(cpus));
        match &self.nohz_full {
            None => {
                let found = "this kernel is built without NO_HZ_FULL: the tick comes as long as anything runs";
                finding(
                    "tick",
                    Severity::No,
                    found,
                    Some(format!("a kernel with CONFIG_NO_HZ_FULL, started with {remedy}")),
                )
            }
            Some(without) if covers(without, cpus) => {
                finding("tick", Severity::Ok, "stops while one thread runs alone (nohz_full)", None)
            }
            Some(_) => finding("tick", Severity::Boot, "comes as long as anything runs", Some(remedy)),
        }
    }

    /// Callbacks of read-copy-update; `nohz_full=` hands them over as well (kernel-parameters.txt).
    pub(super) fn callbacks(&self, cpus: &[u32]) -> Diagnosis {
        let handed_over = self.argument("rcu_nocbs").is_some_and(|named| covers(&list(named), cpus));
        match handed_over || !self.ticks(cpus) {
            true => finding("rcu callbacks", Severity::Ok, "run elsewhere", None),
            false => {
                let remedy = format!("rcu_nocbs={}", shown(cpus));
                finding("rcu callbacks", Severity::Boot, "run on the CPU that made them", Some(remedy))
            }
        }
    }

    /// `isolcpus=` is worth a reboot only for effects that a cpuset does not have.
    pub(super) fn isolation(&self, cpus: &[u32], backend: &Backend, irqs: &Irqs) -> Diagnosis {
        let subject = "isolcpus";
        let has_cpuset = !matches!(backend, Backend::Affinity(_));
        let bound = irqs.bound_cpus();
        match (has_cpuset, bound.is_empty()) {
            _ if covers(&self.isolated, cpus) => finding(subject, Severity::Ok, "outside load balancing already", None),
            _ if !backend.is_known() => {
                let found = "needed only where no cpuset keeps others away; not tried, --try does";
                finding(subject, Severity::Info, found, None)
            }
            (true, true) => finding(subject, Severity::Ok, "not needed: a cpuset does the same without a reboot", None),
            (true, false) => {
                let found = format!("the kernel spreads managed interrupts over CPUs {}", shown(&bound));
                finding(subject, Severity::Boot, found, Some(format!("isolcpus=managed_irq,{}", shown(cpus))))
            }
            (false, _) => {
                let found = "no cpuset keeps others away here";
                finding(subject, Severity::Boot, found, Some(format!("isolcpus=domain,managed_irq,{}", shown(cpus))))
            }
        }
    }

    /// Where interrupts of new devices go.
    pub(super) fn interrupts(&self, cpus: &[u32], online: &[u32]) -> Diagnosis {
        let subject = "irqaffinity";
        let Some(default) = &self.irq_default else {
            return finding(subject, Severity::Info, "not known: /proc/irq does not say", None);
        };
        let others: Vec<u32> = online.iter().filter(|cpu| !cpus.contains(cpu)).copied().collect();
        // A CPU that was isolated for somebody else is to be left alone as well.
        let noisy: Vec<u32> = others.iter().filter(|cpu| !self.is_quiet(**cpu)).copied().collect();
        let others = if noisy.is_empty() { others } else { noisy };
        if !default.iter().any(|cpu| cpus.contains(cpu)) {
            return finding(subject, Severity::Ok, "interrupts of new devices go elsewhere", None);
        }
        let found = "interrupts of new devices come here as to any CPU";
        finding(subject, Severity::Boot, found, Some(format!("irqaffinity={}", shown(&others))))
    }

    /// Whether a CPU is isolated or without a tick.
    fn is_quiet(&self, cpu: u32) -> bool {
        self.isolated.contains(&cpu) || self.nohz_full.as_ref().is_some_and(|cpus| cpus.contains(&cpu))
    }

    /// The value of an argument `name=value`.
    fn argument(&self, name: &str) -> Option<&str> {
        self.command_line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }
}

fn covers(wide: &[u32], cpus: &[u32]) -> bool {
    cpus.iter().all(|cpu| wide.contains(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isolation::backend::Evidence;
    use crate::isolation::irqs::Unmovable;

    const CPUS: [u32; 2] = [2, 3];

    fn told(found: &Diagnosis) -> (Severity, &str) {
        (found.level, found.remedy.as_deref().unwrap_or_default())
    }

    #[test]
    fn a_stock_kernel_wants_lines_added() {
        let stock = Boot { nohz_full: Some(Vec::new()), irq_default: Some(vec![0, 1, 2, 3]), ..Boot::default() };
        assert_eq!(told(&stock.tick(&CPUS)), (Severity::Boot, "nohz_full=2,3"));
        assert_eq!(told(&stock.callbacks(&CPUS)), (Severity::Boot, "rcu_nocbs=2,3"));
        assert_eq!(told(&stock.interrupts(&CPUS, &[0, 1, 2, 3])), (Severity::Boot, "irqaffinity=0,1"));
        assert!(stock.ticks(&CPUS));
    }

    #[test]
    fn a_tuned_kernel_is_well_for_its_cpus_and_no_others() {
        let tuned = Boot {
            nohz_full: Some(vec![2, 3]),
            isolated: vec![2, 3],
            irq_default: Some(vec![0, 1]),
            command_line: "quiet rcu_nocbs=2-3 rcu_nocbs_poll".into(),
        };
        let nothing = Backend::Affinity(String::new());
        for found in [tuned.tick(&CPUS), tuned.callbacks(&CPUS), tuned.interrupts(&CPUS, &[0, 1, 2, 3])] {
            assert_eq!(found.level, Severity::Ok, "{found:?}");
        }
        assert_eq!(tuned.isolation(&CPUS, &nothing, &Irqs::default()).level, Severity::Ok);
        assert_eq!(told(&tuned.tick(&[1, 2])), (Severity::Boot, "nohz_full=1,2"));
        assert_eq!(told(&tuned.callbacks(&[1, 2])), (Severity::Boot, "rcu_nocbs=1,2"));
    }

    #[test]
    fn interrupts_are_sent_to_no_cpu_that_is_isolated_for_others() {
        let boot = Boot { isolated: vec![1], irq_default: Some(vec![0, 1, 2, 3]), ..Boot::default() };
        assert_eq!(told(&boot.interrupts(&CPUS, &[0, 1, 2, 3])), (Severity::Boot, "irqaffinity=0"));
        let all_quiet = Boot { isolated: vec![0, 1], ..boot };
        assert_eq!(told(&all_quiet.interrupts(&CPUS, &[0, 1, 2, 3])), (Severity::Boot, "irqaffinity=0,1"));
    }

    #[test]
    fn a_kernel_that_cannot_stop_the_tick_is_not_sent_to_reboot() {
        assert_eq!(Boot::default().tick(&CPUS).level, Severity::No);
        assert_eq!(Boot::default().interrupts(&CPUS, &[0, 1, 2, 3]).level, Severity::Info, "not known, so not well");
    }

    #[test]
    fn isolcpus_is_for_what_a_cpuset_cannot_do() {
        let boot = Boot::default();
        let bound = Unmovable { name: "30 nvme0q3".into(), cpus: vec![3] };
        let managed = Irqs { unmovable: vec![bound], ..Irqs::default() };
        let nothing = Backend::Affinity(String::new());
        assert_eq!(boot.isolation(&CPUS, &Backend::V1Exclusive(Evidence::Tried), &Irqs::default()).level, Severity::Ok);
        let found = boot.isolation(&CPUS, &Backend::V2Isolated(Evidence::Tried), &managed);
        assert_eq!(told(&found), (Severity::Boot, "isolcpus=managed_irq,2,3"));
        let found = boot.isolation(&CPUS, &nothing, &Irqs::default());
        assert_eq!(told(&found), (Severity::Boot, "isolcpus=domain,managed_irq,2,3"));
        let found = boot.isolation(&CPUS, &Backend::V1Exclusive(Evidence::Read), &managed);
        assert_eq!(told(&found), (Severity::Info, ""), "nobody is sent to reboot for what was not tried");
    }
}
