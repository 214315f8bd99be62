//! The noise that remains after all other remedies, and its causes.

use super::boot::Boot;
use super::irqs::Irqs;
use super::surroundings::neighbours;
use super::text::{named, shown};
use crate::doctor::{Diagnosis, Remedy, Severity};
use seatmap_data::machine::Topology;
use seatmap_data::statistics::words::agreeing;
use seatmap_machines::host::environment;

struct Remains<'a> {
    cpus: &'a [u32],
    has_tick: bool,
    bound: Vec<u32>,
    untried: usize,
    neighbours: Vec<u32>,
    hypervisor: Option<String>,
}

pub fn diagnosis(topology: &Topology, cpus: &[u32], boot: &Boot, irqs: &Irqs) -> Diagnosis {
    let hypervisor =
        environment::read().hypervisor.unwrap_or_else(|| "a hypervisor, if any".to_owned());
    let hypervisor = Some(hypervisor).filter(|name| name != "none");
    let neighbours = neighbours(topology, cpus);
    let has_tick = boot.ticks(cpus);
    let bound = irqs.bound_cpus();
    // A hidden list may contain unmovable interrupts.
    let untried = irqs.untried + usize::from(irqs.is_hidden);
    Remains { cpus, has_tick, bound, untried, neighbours, hypervisor }.diagnosis()
}

impl Remains<'_> {
    fn diagnosis(&self) -> Diagnosis {
        let subject = "what remains";
        let reasons = self.reasons();
        let cpus = shown(self.cpus);
        let here = named(self.cpus);
        let remedy = Some(Remedy::advice(format!("'seatmap noise --cpus {cpus}' measures it")));
        if reasons.is_empty() {
            Diagnosis::new(subject, Severity::Ok, format!("on {here}: nothing known"), remedy)
        } else {
            Diagnosis::new(
                subject,
                Severity::Info,
                format!("on {here}: {}", reasons.join("; ")),
                remedy,
            )
        }
    }

    fn reasons(&self) -> Vec<String> {
        let them = agreeing(self.cpus.len(), "it", "them");
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

fn on_some(cpus: &[u32], text: &str) -> Option<String> {
    (!cpus.is_empty()).then(|| format!("{text} {}", named(cpus)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_existing_reasons_are_listed() {
        let mut remains = Remains {
            cpus: &[2, 3],
            has_tick: true,
            bound: vec![3],
            untried: 2,
            neighbours: vec![6],
            hypervisor: Some("KVM".into()),
        };
        assert_eq!(
            remains.diagnosis().found,
            "on CPUs 2,3: the tick, because nohz_full does not cover them; CPU time taken by KVM (steal); \
             unmovable interrupts on CPU 3; interrupts that cannot be moved; \
             SMT neighbours on CPU 6"
        );
        (remains.has_tick, remains.hypervisor) = (false, None);
        (remains.bound, remains.untried, remains.neighbours) = (Vec::new(), 0, Vec::new());
        assert_eq!(remains.diagnosis().level, Severity::Ok);
    }
}
