//! Settings that only the kernel's command line changes.

use super::backend::IsolationBackend;
use super::irqs::Irqs;
use crate::doctor::diagnosis::{boot, info, no, ok};
use crate::doctor::{Diagnosis, DoctorRemedyKind, Remedy};
use seatmap_data::statistics::words::joined;
use seatmap_os::{CpuSet, Root, isolated};

/// It keeps the time for all others and always accepts interrupts (`tick_nohz_init`,
/// `irq_affinity_setup`).
const BOOT_CPU: u32 = 0;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// CPUs without a tick while one thread runs; `None` if the kernel lacks NO_HZ_FULL.
    nohz_full: Option<CpuSet>,
    isolated: CpuSet,
    /// CPUs for new interrupts; `None` if unknown.
    irq_default: Option<CpuSet>,
    command_line: String,
}

impl Boot {
    pub fn read(root: &Root) -> Self {
        let read = |path| root.read(path).ok();
        Boot {
            nohz_full: read("/sys/devices/system/cpu/nohz_full").map(|text| list(&text)),
            isolated: isolated::cpus(root),
            irq_default: read("/proc/irq/default_smp_affinity")
                .and_then(|text| CpuSet::of_mask(&text)),
            command_line: read("/proc/cmdline").unwrap_or_default(),
        }
    }

    pub fn ticks(&self, cpus: &CpuSet) -> bool {
        !self.nohz_full.as_ref().is_some_and(|without| cpus.is_subset(without))
    }

    pub fn tick(&self, cpus: &CpuSet) -> Diagnosis {
        let subject = "tick";
        if !self.ticks(cpus) {
            return ok(subject, "stops while only one thread runs (nohz_full)");
        }
        if cpus.contains(BOOT_CPU) {
            let found = format!("CPU {BOOT_CPU} keeps the time for all CPUs: its tick never stops");
            return no(subject, found, without_boot_cpu());
        }
        if self.nohz_full.is_none() {
            let found =
                "this kernel is built without NO_HZ_FULL: the tick runs whenever a thread runs";
            let advice =
                format!("use a kernel with CONFIG_NO_HZ_FULL, started with nohz_full={cpus}");
            return no(subject, found, advice);
        }
        // The kernel ignores the boot CPU here.
        let all = self.named("nohz_full").without(&CpuSet::single(BOOT_CPU)).with(cpus);
        let found = format!("runs whenever a thread runs{}", self.instead_of("nohz_full"));
        let remedy = Remedy::new(DoctorRemedyKind::BootNohzFull, format!("nohz_full={all}"));
        boot(subject, found, remedy)
    }

    /// Read-copy-update callbacks; `nohz_full=` also moves them away (kernel-parameters.txt).
    pub fn callbacks(&self, cpus: &CpuSet) -> Diagnosis {
        let subject = "rcu callbacks";
        let name = "rcu_nocbs";
        let present = self.named(name);
        let handed_over = self.argument(name) == Some("all") || cpus.is_subset(&present);
        if handed_over || !self.ticks(cpus) {
            return ok(subject, "run on other CPUs");
        }
        let found = format!("run on the CPU that queued them{}", self.instead_of(name));
        let all = present.with(cpus);
        boot(subject, found, Remedy::new(DoctorRemedyKind::BootRcuNocbs, format!("{name}={all}")))
    }

    /// `isolcpus=` is worth a reboot only for effects that a cpuset lacks.
    pub fn isolation(&self, cpus: &CpuSet, backend: &IsolationBackend, irqs: &Irqs) -> Diagnosis {
        let subject = "isolcpus";
        let has_cpuset = !matches!(backend, IsolationBackend::Affinity(_));
        let bound = irqs.bound_cpus();
        let present = Isolcpus::parse(self.argument(subject).unwrap_or_default());
        let (found, flags): (_, &[&str]) = match (has_cpuset, bound.is_empty()) {
            _ if cpus.is_subset(&self.isolated) => {
                return ok(subject, "already outside load balancing");
            }
            _ if !backend.is_known() => {
                let found =
                    "needed only if no cpuset keeps other threads away; not tried (use --try)";
                return info(subject, found);
            }
            (true, true) => {
                return ok(subject, "not needed: a cpuset does the same without a reboot");
            }
            (true, false) if present.keeps_managed_away(cpus) => {
                let found =
                    "keeps managed interrupts away, except those of devices with no other CPU";
                return info(subject, found);
            }
            (true, false) => {
                let bound = bound.named();
                (format!("the kernel spreads managed interrupts over {bound}"), &["managed_irq"])
            }
            (false, _) => {
                ("no cpuset keeps other threads away here".to_owned(), &["domain", "managed_irq"])
            }
        };
        let remedy = Remedy::new(DoctorRemedyKind::BootIsolcpus, present.with(flags, cpus));
        boot(subject, found + &self.instead_of(subject), remedy)
    }

    pub fn interrupts(&self, cpus: &CpuSet, online: &CpuSet) -> Diagnosis {
        let subject = "irqaffinity";
        let Some(default) = &self.irq_default else {
            return info(subject, "not known: /proc/irq does not report it");
        };
        if !default.meets(cpus) {
            return ok(subject, "interrupts of new devices go to other CPUs");
        }
        let found = "interrupts of new devices may go to these CPUs";
        if cpus.contains(BOOT_CPU) {
            return no(subject, found, without_boot_cpu());
        }
        let quiet = self.nohz_full.clone().unwrap_or_default().with(&self.isolated);
        let others = online.without(cpus).without(&quiet);
        if others.is_empty() {
            let advice = "leave one CPU out of isolcpus= and nohz_full=, for interrupts";
            return no(subject, format!("{found}; every other CPU is isolated, too"), advice);
        }
        let remedy =
            Remedy::new(DoctorRemedyKind::BootIrqaffinity, format!("irqaffinity={others}"));
        boot(subject, format!("{found}{}", self.instead_of(subject)), remedy)
    }

    /// Of several, the kernel takes the last, or refuses all but the first.
    fn argument(&self, name: &str) -> Option<&str> {
        self.command_line
            .split_whitespace()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// To be extended: a second argument of the same name would not add to the first.
    fn named(&self, name: &str) -> CpuSet {
        list(self.argument(name).unwrap_or_default())
    }

    fn instead_of(&self, name: &str) -> String {
        self.argument(name).map_or_else(String::new, |value| {
            format!("; replace {name}={value} on the command line")
        })
    }
}

/// Empty if the text is not a list.
fn list(text: &str) -> CpuSet {
    CpuSet::of_list(text).unwrap_or_default()
}

/// Flags and CPUs (kernel-parameters.txt).
struct Isolcpus<'a> {
    flags: Vec<&'a str>,
    cpus: CpuSet,
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

    fn keeps_managed_away(&self, cpus: &CpuSet) -> bool {
        self.flags.contains(&"managed_irq") && cpus.is_subset(&self.cpus)
    }

    fn with(&self, flags: &[&str], cpus: &CpuSet) -> String {
        let new = flags.iter().filter(|flag| !self.flags.contains(flag));
        let flags = joined(self.flags.iter().chain(new), ",");
        format!("isolcpus={flags},{}", self.cpus.with(cpus))
    }
}

fn without_boot_cpu() -> String {
    format!("leave CPU {BOOT_CPU} to the system: choose other CPUs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use crate::doctor::fixture::Fixture;
    use crate::doctor::isolation::backend::IsolationEvidence;
    use crate::doctor::isolation::irqs::Unmovable;

    fn online() -> CpuSet {
        list("0-3")
    }

    fn text(found: &Diagnosis) -> (Severity, &str) {
        (found.level, found.remedy.as_ref().map_or("", |remedy| &remedy.text))
    }

    fn managed() -> Irqs {
        let bound = Unmovable { name: "30 nvme0q3".into(), cpus: list("3") };
        Irqs { unmovable: vec![bound], ..Irqs::default() }
    }

    fn started_with(line: &str) -> Boot {
        let of = |name: &str| {
            line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        };
        let isolcpus = Isolcpus::parse(of("isolcpus").unwrap_or_default());
        let is_domain = isolcpus.flags.contains(&"domain");
        let isolated = if is_domain { isolcpus.cpus } else { CpuSet::default() };
        let boot_cpu = CpuSet::single(BOOT_CPU);
        let default = of("irqaffinity").map_or(online(), |cpus| list(cpus).with(&boot_cpu));
        let ticks_not = list(of("nohz_full").unwrap_or_default()).without(&boot_cpu);
        let fixture = Fixture::new(&[
            ("/proc/cmdline", line),
            ("/proc/irq/default_smp_affinity", &default.to_mask()),
            ("/sys/devices/system/cpu/nohz_full", &ticks_not.to_string()),
            ("/sys/devices/system/cpu/isolated", &isolated.to_string()),
        ]);
        Boot::read(&fixture.root)
    }

    fn examined(
        boot: &Boot,
        cpus: &str,
        backend: &IsolationBackend,
        irqs: &Irqs,
    ) -> [Diagnosis; 4] {
        let cpus = &list(cpus);
        [
            boot.tick(cpus),
            boot.callbacks(cpus),
            boot.isolation(cpus, backend, irqs),
            boot.interrupts(cpus, &online()),
        ]
    }

    /// Until no remedy is left; returns the last command line.
    fn restarted(line: &str, cpus: &str, backend: &IsolationBackend, irqs: &Irqs) -> String {
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
        let line = restarted("quiet", "2,3", &nothing, &Irqs::default());
        let all =
            "quiet nohz_full=2,3 rcu_nocbs=2,3 isolcpus=domain,managed_irq,2,3 irqaffinity=0,1";
        assert_eq!(line, all);
        let line = restarted(
            "",
            "2,3",
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
        let line = restarted(before, "2", &nothing, &Irqs::default());
        assert_eq!(
            line,
            "nohz_full=2,3 rcu_nocbs=2,3 isolcpus=nohz,domain,managed_irq,2,3 irqaffinity=0,1"
        );
        assert_eq!(text(&started_with("nohz_full=0,3").tick(&list("2"))).1, "nohz_full=2,3");
        let found = started_with(before).tick(&list("2")).found;
        assert!(found.ends_with("; replace nohz_full=3 on the command line"), "{found}");
        assert_eq!(started_with("rcu_nocbs=all").callbacks(&list("2,3")).level, Severity::Ok);
    }

    #[test]
    fn tuned_kernel_is_ok_only_for_its_cpus() {
        let tuned = started_with(
            "quiet nohz_full=2-3 isolcpus=2-3 irqaffinity=0-1 rcu_nocbs=2-3 rcu_nocbs_poll",
        );
        let nothing = IsolationBackend::Affinity(String::new());
        for found in examined(&tuned, "2,3", &nothing, &Irqs::default()) {
            assert_eq!(found.level, Severity::Ok, "{found:?}");
        }
        assert_eq!(text(&tuned.tick(&list("1,2"))), (Severity::Boot, "nohz_full=1-3"));
        assert_eq!(text(&tuned.callbacks(&list("1,2"))), (Severity::Boot, "rcu_nocbs=1-3"));
    }

    #[test]
    fn interrupts_go_to_no_otherwise_isolated_cpu() {
        let boot = Boot { isolated: list("1"), irq_default: Some(online()), ..Boot::default() };
        assert_eq!(
            text(&boot.interrupts(&list("2,3"), &online())),
            (Severity::Boot, "irqaffinity=0")
        );
        let all_quiet = Boot { isolated: list("0,1"), ..boot };
        let found = all_quiet.interrupts(&list("2,3"), &online());
        assert_eq!(
            (found.level, found.remedy.unwrap().kind),
            (Severity::No, DoctorRemedyKind::Advice)
        );
    }

    #[test]
    fn first_cpu_gets_no_reboot_remedy() {
        let boot = started_with("");
        let cpus = list("0,1");
        let each =
            [boot.tick(&cpus), boot.interrupts(&cpus, &online()), Boot::default().tick(&list("0"))];
        for found in each {
            let remedy = found.remedy.unwrap();
            assert_eq!((found.level, remedy.kind), (Severity::No, DoctorRemedyKind::Advice));
            assert!(!remedy.text.contains("nohz_full"), "{remedy:?}");
        }
    }

    #[test]
    fn kernel_with_unstoppable_tick_gets_no_reboot_remedy() {
        assert_eq!(Boot::default().tick(&list("2,3")).level, Severity::No);
        assert_eq!(
            Boot::default().interrupts(&list("2,3"), &online()).level,
            Severity::Info,
            "not known, so not well"
        );
    }

    #[test]
    fn isolcpus_is_advised_only_beyond_cpusets() {
        let boot = Boot::default();
        assert_eq!(
            boot.isolation(
                &list("2,3"),
                &IsolationBackend::V1Exclusive(IsolationEvidence::Tried),
                &Irqs::default()
            )
            .level,
            Severity::Ok
        );
        let found = boot.isolation(
            &list("2,3"),
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
