//! The noise that remains after all other remedies, and its causes.

use super::boot::Boot;
use super::irqs::Irqs;
use super::surroundings::neighbours;
use crate::doctor::diagnosis::{info, ok};
use crate::doctor::{Diagnosis, Remedy};
use seatmap_data::machine::Topology;
use seatmap_data::statistics::words::agreeing;
use seatmap_machines::host::environment;
use seatmap_os::{CpuList, CpuSet};

struct Remains {
    cpus: CpuList,
    has_tick: bool,
    bound: CpuList,
    untried: usize,
    neighbours: CpuList,
    hypervisor: Option<String>,
}

pub fn diagnosis(topology: &Topology, cpus: &CpuList, boot: &Boot, irqs: &Irqs) -> Diagnosis {
    let hypervisor =
        environment::read().hypervisor.unwrap_or_else(|| "a hypervisor, if any".to_owned());
    let set = CpuSet::from(cpus);
    let remains = Remains {
        cpus: cpus.clone(),
        has_tick: boot.ticks(&set),
        bound: irqs.bound_cpus().list(),
        // A hidden list may contain unmovable interrupts.
        untried: irqs.untried + usize::from(irqs.is_hidden),
        neighbours: neighbours(topology, &set),
        hypervisor: Some(hypervisor).filter(|name| name != "none"),
    };
    remains.diagnosis()
}

impl Remains {
    fn diagnosis(&self) -> Diagnosis {
        let subject = "what remains";
        let here = self.cpus.named();
        let reasons = self.reasons();
        let found = if reasons.is_empty() {
            ok(subject, format!("on {here}: nothing known"))
        } else {
            info(subject, format!("on {here}: {}", reasons.join("; ")))
        };
        let command = format!("'seatmap noise --cpus {}' measures it", self.cpus);
        found.with(Remedy::advice(command))
    }

    fn reasons(&self) -> Vec<String> {
        let them = agreeing(self.cpus.0.len(), "it", "them");
        let tick =
            self.has_tick.then(|| format!("the tick, because nohz_full does not cover {them}"));
        let steal =
            self.hypervisor.as_ref().map(|name| format!("CPU time taken by {name} (steal)"));
        let irqs = on_some(&self.bound, "unmovable interrupts on");
        let untried = (self.untried > 0).then(|| "interrupts that cannot be moved".to_owned());
        let smt = on_some(&self.neighbours, "SMT neighbours on");
        [tick, steal, irqs, untried, smt].into_iter().flatten().collect()
    }
}

fn on_some(cpus: &CpuList, text: &str) -> Option<String> {
    (!cpus.0.is_empty()).then(|| format!("{text} {}", cpus.named()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    #[test]
    fn only_existing_reasons_are_listed() {
        let mut remains = Remains {
            cpus: CpuList(vec![2, 3]),
            has_tick: true,
            bound: CpuList(vec![3]),
            untried: 2,
            neighbours: CpuList(vec![6]),
            hypervisor: Some("KVM".into()),
        };
        assert_eq!(
            remains.diagnosis().found,
            "on CPUs 2,3: the tick, because nohz_full does not cover them; CPU time taken by KVM (steal); \
             unmovable interrupts on CPU 3; interrupts that cannot be moved; \
             SMT neighbours on CPU 6"
        );
        (remains.has_tick, remains.hypervisor) = (false, None);
        (remains.bound, remains.untried, remains.neighbours) =
            (CpuList::default(), 0, CpuList::default());
        assert_eq!(remains.diagnosis().level, Severity::Ok);
    }
}
