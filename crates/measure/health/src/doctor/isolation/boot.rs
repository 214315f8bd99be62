//! Settings that only the kernel's command line changes.

use super::backend::IsolationBackend;
use super::irqs::Irqs;
use super::text::{list, mask, read};
use crate::doctor::{Diagnosis, DoctorRemedyKind, Remedy, Severity};
use seatmap_os::{CpuSet, Root, isolated};

/// It keeps the time for all others and always accepts interrupts (`tick_nohz_init`,
/// `irq_affinity_setup`).
const BOOT_CPU: u32 = 0;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// CPUs without a tick while one thread runs; `None` if the kernel lacks NO_HZ_FULL.
    nohz_full: Option<Vec<u32>>,
    isolated: Vec<u32>,
    /// CPUs for new interrupts; `None` if unknown.
    irq_default: Option<Vec<u32>>,
    command_line: String,
}

impl Boot {
    pub fn read(root: &Root) -> Self {
        Boot {
            nohz_full: read(root, "/sys/devices/system/cpu/nohz_full").map(|text| list(&text)),
            isolated: isolated::cpus(root).list().0,
            irq_default: read(root, "/proc/irq/default_smp_affinity").and_then(|text| mask(&text)),
            command_line: read(root, "/proc/cmdline").unwrap_or_default(),
        }
    }

    pub fn ticks(&self, cpus: &[u32]) -> bool {
        !covers(self.nohz_full.as_deref().unwrap_or_default(), cpus)
    }

    pub fn tick(&self, cpus: &[u32]) -> Diagnosis {
        let subject = "tick";
        let is_covered = self.nohz_full.as_ref().is_some_and(|without| covers(without, cpus));
        if cpus.contains(&BOOT_CPU) && !is_covered {
            let found = format!("CPU {BOOT_CPU} keeps the time for all CPUs: its tick never stops");
            return Diagnosis::new(
                subject,
                Severity::No,
                found,
                Some(Remedy::advice(without_boot_cpu())),
            );
        }
        if self.nohz_full.is_none() {
            let found =
                "this kernel is built without NO_HZ_FULL: the tick runs whenever a thread runs";
            let advice = format!(
                "use a kernel with CONFIG_NO_HZ_FULL, started with nohz_full={}",
                set(cpus)
            );
            return Diagnosis::new(subject, Severity::No, found, Some(Remedy::advice(advice)));
        }
        if is_covered {
            return Diagnosis::new(
                subject,
                Severity::Ok,
                "stops while only one thread runs (nohz_full)",
                None,
            );
        }
        let remedy = self.extended(DoctorRemedyKind::BootNohzFull, "nohz_full", cpus);
        let found = format!("runs whenever a thread runs{}", self.instead_of("nohz_full"));
        Diagnosis::new(subject, Severity::Boot, found, Some(remedy))
    }

    /// Read-copy-update callbacks; `nohz_full=` also moves them away (kernel-parameters.txt).
    pub fn callbacks(&self, cpus: &[u32]) -> Diagnosis {
        let name = "rcu_nocbs";
        let handed_over =
            self.argument(name).is_some_and(|named| named == "all" || covers(&list(named), cpus));
        if handed_over || !self.ticks(cpus) {
            return Diagnosis::new("rcu callbacks", Severity::Ok, "run on other CPUs", None);
        }
        let found = format!("run on the CPU that queued them{}", self.instead_of(name));
        let remedy = self.extended(DoctorRemedyKind::BootRcuNocbs, name, cpus);
        Diagnosis::new("rcu callbacks", Severity::Boot, found, Some(remedy))
    }

    /// `isolcpus=` is worth a reboot only for effects that a cpuset lacks.
    pub fn isolation(&self, cpus: &[u32], backend: &IsolationBackend, irqs: &Irqs) -> Diagnosis {
        let subject = "isolcpus";
        let has_cpuset = !matches!(backend, IsolationBackend::Affinity(_));
        let bound = irqs.bound_cpus();
        let present = Isolcpus::parse(self.argument(subject).unwrap_or_default());
        match (has_cpuset, bound.is_empty()) {
            _ if covers(&self.isolated, cpus) => {
                Diagnosis::new(subject, Severity::Ok, "already outside load balancing", None)
            }
            _ if !backend.is_known() => {
                let found =
                    "needed only if no cpuset keeps other threads away; not tried (use --try)";
                Diagnosis::new(subject, Severity::Info, found, None)
            }
            (true, true) => Diagnosis::new(
                subject,
                Severity::Ok,
                "not needed: a cpuset does the same without a reboot",
                None,
            ),
            (true, false) if present.keeps_managed_away(cpus) => {
                let found =
                    "keeps managed interrupts away, except those of devices with no other CPU";
                Diagnosis::new(subject, Severity::Info, found, None)
            }
            (true, false) => {
                let spread =
                    format!("the kernel spreads managed interrupts over {}", set(&bound).named());
                let found = spread + &self.instead_of(subject);
                let remedy = Remedy::new(
                    DoctorRemedyKind::BootIsolcpus,
                    present.with(&["managed_irq"], cpus),
                );
                Diagnosis::new(subject, Severity::Boot, found, Some(remedy))
            }
            (false, _) => {
                let found =
                    format!("no cpuset keeps other threads away here{}", self.instead_of(subject));
                let remedy = Remedy::new(
                    DoctorRemedyKind::BootIsolcpus,
                    present.with(&["domain", "managed_irq"], cpus),
                );
                Diagnosis::new(subject, Severity::Boot, found, Some(remedy))
            }
        }
    }

    pub fn interrupts(&self, cpus: &[u32], online: &[u32]) -> Diagnosis {
        let subject = "irqaffinity";
        let Some(default) = &self.irq_default else {
            return Diagnosis::new(
                subject,
                Severity::Info,
                "not known: /proc/irq does not report it",
                None,
            );
        };
        if !default.iter().any(|cpu| cpus.contains(cpu)) {
            return Diagnosis::new(
                subject,
                Severity::Ok,
                "interrupts of new devices go to other CPUs",
                None,
            );
        }
        let found = "interrupts of new devices may go to these CPUs";
        if cpus.contains(&BOOT_CPU) {
            return Diagnosis::new(
                subject,
                Severity::No,
                found,
                Some(Remedy::advice(without_boot_cpu())),
            );
        }
        let others: Vec<u32> = online
            .iter()
            .filter(|cpu| !cpus.contains(cpu) && !self.is_quiet(**cpu))
            .copied()
            .collect();
        if others.is_empty() {
            let advice = "leave one CPU out of isolcpus= and nohz_full=, for interrupts";
            let found =
                "interrupts of new devices may go to these CPUs; every other CPU is isolated, too";
            return Diagnosis::new(subject, Severity::No, found, Some(Remedy::advice(advice)));
        }
        let remedy =
            Remedy::new(DoctorRemedyKind::BootIrqaffinity, format!("irqaffinity={}", set(&others)));
        Diagnosis::new(
            subject,
            Severity::Boot,
            format!("{found}{}", self.instead_of(subject)),
            Some(remedy),
        )
    }

    fn is_quiet(&self, cpu: u32) -> bool {
        self.isolated.contains(&cpu)
            || self.nohz_full.as_ref().is_some_and(|cpus| cpus.contains(&cpu))
    }

    /// Of several, the kernel takes the last, or refuses all but the first.
    fn argument(&self, name: &str) -> Option<&str> {
        self.command_line
            .split_whitespace()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// A second argument of the same name would not add to the first.
    fn extended(&self, kind: DoctorRemedyKind, name: &str, cpus: &[u32]) -> Remedy {
        let present = list(self.argument(name).unwrap_or_default());
        let mut all = [&present, cpus].concat();
        if kind == DoctorRemedyKind::BootNohzFull {
            // The kernel ignores the boot CPU here.
            all.retain(|cpu| *cpu != BOOT_CPU);
        }
        Remedy::new(kind, format!("{name}={}", set(&all)))
    }

    fn instead_of(&self, name: &str) -> String {
        self.argument(name).map_or_else(String::new, |value| {
            format!("; replace {name}={value} on the command line")
        })
    }
}

/// Flags and CPUs (kernel-parameters.txt).
struct Isolcpus<'a> {
    flags: Vec<&'a str>,
    cpus: Vec<u32>,
}

impl<'a> Isolcpus<'a> {
    fn parse(value: &'a str) -> Self {
        let mut flags: Vec<&str> = value
            .split(',')
            .take_while(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()))
            .collect();
        let cpus: Vec<&str> = value.split(',').skip(flags.len()).collect();
        // Without flags the CPUs are outside load balancing.
        if flags.is_empty() && !value.is_empty() {
            flags.push("domain");
        }
        Isolcpus { flags, cpus: list(&cpus.join(",")) }
    }

    fn keeps_managed_away(&self, cpus: &[u32]) -> bool {
        self.flags.contains(&"managed_irq") && covers(&self.cpus, cpus)
    }

    fn with(&self, flags: &[&str], cpus: &[u32]) -> String {
        let new = flags.iter().filter(|flag| !self.flags.contains(flag));
        let flags: Vec<&str> = self.flags.iter().chain(new).copied().collect();
        format!("isolcpus={},{}", flags.join(","), set(&[&self.cpus, cpus].concat()))
    }
}

fn without_boot_cpu() -> String {
    format!("leave CPU {BOOT_CPU} to the system: choose other CPUs")
}

fn set(cpus: &[u32]) -> CpuSet {
    cpus.iter().copied().collect()
}

fn covers(wide: &[u32], cpus: &[u32]) -> bool {
    cpus.iter().all(|cpu| wide.contains(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::fixture::Fixture;
    use crate::doctor::isolation::backend::IsolationEvidence;
    use crate::doctor::isolation::irqs::Unmovable;

    const CPUS: [u32; 2] = [2, 3];
    const ONLINE: [u32; 4] = [0, 1, 2, 3];

    fn text(found: &Diagnosis) -> (Severity, &str) {
        (found.level, found.remedy.as_ref().map_or("", |remedy| &remedy.text))
    }

    fn managed() -> Irqs {
        let bound = Unmovable { name: "30 nvme0q3".into(), cpus: vec![3] };
        Irqs { unmovable: vec![bound], ..Irqs::default() }
    }

    fn started_with(line: &str) -> Boot {
        let of = |name: &str| {
            line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        };
        let isolcpus = Isolcpus::parse(of("isolcpus").unwrap_or_default());
        let isolated = if isolcpus.flags.contains(&"domain") { isolcpus.cpus } else { Vec::new() };
        let default =
            of("irqaffinity").map_or(ONLINE.to_vec(), |cpus| [list(cpus), vec![BOOT_CPU]].concat());
        let mut ticks_not = list(of("nohz_full").unwrap_or_default());
        ticks_not.retain(|cpu| *cpu != BOOT_CPU);
        let fixture = Fixture::new(&[
            ("/proc/cmdline", line),
            ("/proc/irq/default_smp_affinity", &set(&default).to_mask()),
            ("/sys/devices/system/cpu/nohz_full", &set(&ticks_not).to_string()),
            ("/sys/devices/system/cpu/isolated", &set(&isolated).to_string()),
        ]);
        Boot::read(&fixture.root)
    }

    fn examined(
        boot: &Boot,
        cpus: &[u32],
        backend: &IsolationBackend,
        irqs: &Irqs,
    ) -> [Diagnosis; 4] {
        [
            boot.tick(cpus),
            boot.callbacks(cpus),
            boot.isolation(cpus, backend, irqs),
            boot.interrupts(cpus, &ONLINE),
        ]
    }

    /// Until no remedy is left; returns the last command line.
    fn restarted(line: &str, cpus: &[u32], backend: &IsolationBackend, irqs: &Irqs) -> String {
        let mut line = line.to_owned();
        for _ in 0..4 {
            let found = examined(&started_with(&line), cpus, backend, irqs);
            let words =
                found.iter().filter(|one| one.level == Severity::Boot).map(|one| text(one).1);
            for word in words.collect::<Vec<_>>() {
                let name = word.split_once('=').unwrap().0;
                let kept = line
                    .split(' ')
                    .filter(|old| old.split_once('=').is_none_or(|(old, _)| old != name));
                line = kept
                    .chain([word])
                    .filter(|word| !word.is_empty())
                    .collect::<Vec<_>>()
                    .join(" ");
            }
        }
        let found = examined(&started_with(&line), cpus, backend, irqs);
        assert!(
            found.iter().all(|one| matches!(one.level, Severity::Ok | Severity::Info)),
            "{line}: {found:?}"
        );
        line
    }

    #[test]
    fn boot_words_make_the_computer_clean() {
        let nothing = IsolationBackend::Affinity(String::new());
        let line = restarted("quiet", &CPUS, &nothing, &Irqs::default());
        let all =
            "quiet nohz_full=2,3 rcu_nocbs=2,3 isolcpus=domain,managed_irq,2,3 irqaffinity=0,1";
        assert_eq!(line, all);
        let line = restarted(
            "",
            &CPUS,
            &IsolationBackend::V2Isolated(IsolationEvidence::Tried),
            &managed(),
        );
        assert_eq!(line, "nohz_full=2,3 rcu_nocbs=2,3 isolcpus=managed_irq,2,3 irqaffinity=0,1");
    }

    /// The kernel refuses a second `isolcpus=` and takes only the last `rcu_nocbs=`, so the remedy
    /// names all CPUs.
    #[test]
    fn present_boot_words_are_extended() {
        let nothing = IsolationBackend::Affinity(String::new());
        let before = "isolcpus=nohz,domain,3 nohz_full=3 rcu_nocbs=3 irqaffinity=0-2";
        let line = restarted(before, &[2], &nothing, &Irqs::default());
        assert_eq!(
            line,
            "nohz_full=2,3 rcu_nocbs=2,3 isolcpus=nohz,domain,managed_irq,2,3 irqaffinity=0,1"
        );
        assert_eq!(text(&started_with("nohz_full=0,3").tick(&[2])).1, "nohz_full=2,3");
        let found = started_with(before).tick(&[2]).found;
        assert!(found.ends_with("; replace nohz_full=3 on the command line"), "{found}");
        assert_eq!(started_with("rcu_nocbs=all").callbacks(&CPUS).level, Severity::Ok);
    }

    #[test]
    fn tuned_kernel_is_ok_only_for_its_cpus() {
        let tuned = started_with(
            "quiet nohz_full=2-3 isolcpus=2-3 irqaffinity=0-1 rcu_nocbs=2-3 rcu_nocbs_poll",
        );
        let nothing = IsolationBackend::Affinity(String::new());
        for found in examined(&tuned, &CPUS, &nothing, &Irqs::default()) {
            assert_eq!(found.level, Severity::Ok, "{found:?}");
        }
        assert_eq!(text(&tuned.tick(&[1, 2])), (Severity::Boot, "nohz_full=1-3"));
        assert_eq!(text(&tuned.callbacks(&[1, 2])), (Severity::Boot, "rcu_nocbs=1-3"));
    }

    #[test]
    fn interrupts_go_to_no_otherwise_isolated_cpu() {
        let boot =
            Boot { isolated: vec![1], irq_default: Some(ONLINE.to_vec()), ..Boot::default() };
        assert_eq!(text(&boot.interrupts(&CPUS, &ONLINE)), (Severity::Boot, "irqaffinity=0"));
        let all_quiet = Boot { isolated: vec![0, 1], ..boot };
        let found = all_quiet.interrupts(&CPUS, &ONLINE);
        assert_eq!(
            (found.level, found.remedy.unwrap().kind),
            (Severity::No, DoctorRemedyKind::Advice)
        );
    }

    #[test]
    fn first_cpu_gets_no_reboot_remedy() {
        let boot = started_with("");
        let each =
            [boot.tick(&[0, 1]), boot.interrupts(&[0, 1], &ONLINE), Boot::default().tick(&[0])];
        for found in each {
            let remedy = found.remedy.unwrap();
            assert_eq!((found.level, remedy.kind), (Severity::No, DoctorRemedyKind::Advice));
            assert!(!remedy.text.contains("nohz_full"), "{remedy:?}");
        }
    }

    #[test]
    fn kernel_with_unstoppable_tick_gets_no_reboot_remedy() {
        assert_eq!(Boot::default().tick(&CPUS).level, Severity::No);
        assert_eq!(
            Boot::default().interrupts(&CPUS, &ONLINE).level,
            Severity::Info,
            "not known, so not well"
        );
    }

    #[test]
    fn isolcpus_is_advised_only_beyond_cpusets() {
        let boot = Boot::default();
        assert_eq!(
            boot.isolation(
                &CPUS,
                &IsolationBackend::V1Exclusive(IsolationEvidence::Tried),
                &Irqs::default()
            )
            .level,
            Severity::Ok
        );
        let found = boot.isolation(
            &CPUS,
            &IsolationBackend::V1Exclusive(IsolationEvidence::Read),
            &managed(),
        );
        assert_eq!(
            text(&found),
            (Severity::Info, ""),
            "nobody is sent to reboot for what was not tried"
        );
    }
}
