//! Disturbances of a set of CPUs.
//!
//! Only a trial shows which settings a container or hypervisor permits: write a value, read it
//! back, restore it. Trials need the caller's permission and the [lock](settings_lock) shared by
//! all code that changes these settings.

mod backend;
mod boot;
mod irqs;
mod pinned;
mod remains;
pub(crate) mod settings;
pub(crate) mod surroundings;

use crate::doctor::diagnosis::{info, no};
use crate::doctor::{Diagnosis, Remedy};
use backend::IsolationBackend;
use irqs::Irqs;
use seatmap_cell::settings_lock::{self, SettingsLock};
use seatmap_data::machine::Topology;
use seatmap_os::cpus::Cpus;
use seatmap_os::{CpuList, CpuSet, Root};

/// Examines this computer for isolating these CPUs, in several milliseconds. Writes settings, and
/// restores them, only if `may_try` is set.
pub fn examine(topology: &Topology, cpus: &[u32], may_try: bool) -> Vec<Diagnosis> {
    let subject = "isolation";
    let online = Cpus::read().map(|cpus| cpus.online).unwrap_or_default();
    let online: CpuSet = online.into_iter().collect();
    let list = CpuList(cpus.to_vec());
    let set = CpuSet::from(&list);
    if cpus.is_empty() || online.is_subset(&set) {
        let found = format!(
            "{}: a cell needs at least one CPU, and must leave one to the system",
            list.named()
        );
        return vec![no(subject, found, "name fewer CPUs with --cpus")];
    }
    match may_try.then(settings_lock::take).transpose() {
        Ok(held) => examine_with(topology, &list, &online, held.as_ref()),
        Err(error) => vec![
            info(subject, format!("not tried: {error}"))
                .with(Remedy::advice("try again when it has ended")),
        ],
    }
}

fn examine_with(
    topology: &Topology,
    list: &CpuList,
    online: &CpuSet,
    held: Option<&SettingsLock>,
) -> Vec<Diagnosis> {
    let root = &Root::new("/");
    let cpus = &CpuSet::from(list);
    let backend = IsolationBackend::examine(list, held);
    let irqs = Irqs::examine(cpus, held);
    let boot = boot::Boot::read(root);
    let mut found = vec![
        info("cell", format!("examined for {}", list.named())),
        backend.diagnosis(list),
        boot.tick(cpus),
        boot.callbacks(cpus),
        boot.isolation(cpus, &backend, &irqs),
        boot.interrupts(cpus, online),
        irqs.diagnosis(),
    ];
    found.extend(settings::examine(root, cpus, held));
    found.extend(surroundings::examine(root, topology, cpus));
    found.push(remains::diagnosis(topology, list, &boot, &irqs));
    found
}

/// By default, a cell's CPUs are all except the first core, where the system stays.
pub fn usual_cpus(topology: &Topology, online: &[u32]) -> Vec<u32> {
    let Some(first) = online.first().copied() else { return Vec::new() };
    let first_core = core_of(topology, first);
    online
        .iter()
        .copied()
        .filter(|cpu| *cpu != first)
        .filter(|cpu| first_core.is_none() || core_of(topology, *cpu) != first_core)
        .collect()
}

pub(super) fn core_of(topology: &Topology, cpu: u32) -> Option<u32> {
    topology.pus.iter().find(|pu| pu.os == cpu).and_then(|pu| pu.core)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use seatmap_data::machine::Pu;

    fn topology() -> Topology {
        Topology { pus: (0..4).map(|os| Pu { os, core: Some(os / 2), ..Pu::default() }).collect() }
    }

    #[test]
    fn first_core_is_left_to_the_system() {
        assert_eq!(usual_cpus(&topology(), &[0, 1, 2, 3]), [2, 3]);
        assert_eq!(usual_cpus(&topology(), &[1, 2]), [2]);
        assert_eq!(usual_cpus(&Topology::unknown([0, 1]), &[0, 1]), [1]);
        assert!(usual_cpus(&topology(), &[]).is_empty());
    }

    #[test]
    fn last_system_cpu_cannot_be_isolated() {
        let online = Cpus::read().unwrap().online;
        for may_try in [false, true] {
            let found = examine(&topology(), &online, may_try);
            assert_eq!((found.len(), found[0].level), (1, Severity::No));
        }
    }

    /// Another process has the lock; without trials, the examination still reports everything
    /// readable at once.
    #[test]
    fn examining_without_trying_needs_no_lock() {
        let online = Cpus::read().unwrap().online;
        let (Some(last), true) = (online.last(), online.len() > 1) else {
            return seatmap_needs::skipped!("isolation needs two CPUs");
        };
        let _held = settings_lock::take().unwrap();
        let read = examine(&topology(), &[*last], false);
        assert!(read.len() > 10, "{read:?}");
    }
}
