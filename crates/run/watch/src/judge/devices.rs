//! `device-near`: threads near the accelerators and network cards that they use.

use super::facts::{SeatingFacts, Sitter, cpus, union};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::{OpenDevice, Process};
use seatmap_os::CpuSet;

/// Without open devices, nothing is judged.
pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    if facts.programs().all(|(process, _)| process.devices.is_empty()) {
        let what = "no program has an accelerator or a network card open: nothing to check";
        return vec![Finding::unseen("device-near", what)];
    }
    facts
        .programs()
        .flat_map(|(process, sitters)| {
            process
                .devices
                .iter()
                .filter_map(|device| far(facts, process, &sitters, device))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn far(
    facts: &SeatingFacts,
    process: &Process,
    sitters: &[&Sitter],
    device: &OpenDevice,
) -> Option<Finding> {
    let listed = device.cpus.as_deref().and_then(CpuSet::of_list).filter(|near| !near.is_empty());
    let of_node = device.node.map(|node| facts.cpus_of(|pu| pu.numa, node));
    let Some(near) = listed.or(of_node.filter(|near| !near.is_empty())) else {
        let what = format!("the kernel does not report which CPUs are near {}", device.name);
        return (facts.nodes() > 1).then(|| Finding::unseen("device-near", what).of(process.pid));
    };
    // Idle unbound threads may be anywhere.
    let mut meant: Vec<&Sitter> =
        sitters.iter().filter(|one| one.is_busy() || one.is_bound).copied().collect();
    if meant.is_empty() {
        meant = sitters.to_vec();
    }
    let away: Vec<&Sitter> = meant
        .iter()
        .filter(|sitter| sitter.is_busy() && !sitter.mask.is_subset(&near))
        .copied()
        .collect();
    let all = union(&meant);
    if away.is_empty() && all.is_subset(&near) {
        return None;
    }
    let subjects = if away.is_empty() { &meant } else { &away };
    let first = subjects.first()?;
    let what = format!(
        "{} has {} open, which is near {}, but {} may run on {}",
        super::named_process(process),
        device.name,
        cpus(&near),
        super::facts::listed(subjects),
        cpus(&union(subjects))
    );
    let finding = Finding::wrong("device-near", what)
        .of(process.pid)
        .tids(subjects.iter().map(|sitter| sitter.tid()));
    let finding = finding.on(&union(subjects).without(&near)).at_most(first.thread.age_s);
    Some(finding.mended_by(SeatingRemedy::bind_all(&near, process.pid)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    fn with_gpu(mask: &str) -> Made {
        Made::new(8).parts(1, 4, 4).thread(7, 7, mask).device("/dev/nvidia0", 1, "4-7")
    }

    #[test]
    fn programs_without_devices_get_remark() {
        let found = judge(&Made::new(8).parts(1, 4, 4).thread(7, 7, "0").facts());
        assert!(found.len() == 1 && found[0].what.contains("nothing to check"), "{found:?}");
        assert!(!found[0].is_wrong());
    }

    #[test]
    fn a_program_far_from_its_device_is_found() {
        let found = judge(&with_gpu("0-3").facts());
        assert!(found.len() == 1 && found[0].what.contains("/dev/nvidia0"), "{found:?}");
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -acp 4-7 7"));
        assert_eq!(judge(&with_gpu("3-4").facts())[0].cpus, "3", "half of it is far");
    }

    #[test]
    fn program_near_device_is_healthy() {
        assert_eq!(judge(&with_gpu("5").facts()), []);
        let mut made = with_gpu("5");
        made.seating.processes[0].devices[0].cpus = None;
        assert_eq!(judge(&made.facts()), [], "its node tells the same");
        let idle = with_gpu("5").thread(7, 8, "0-7");
        assert_eq!(judge(&idle.facts()), [], "a thread that sleeps and that nobody bound");
    }
}
