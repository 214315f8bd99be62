//! `device-near`: threads near the accelerators and network cards that they use.

use super::facts::{SeatingFacts, Sitter, cpus, those, union};
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
    facts.of_programs(|process, sitters| {
        let devices = process.devices.iter();
        devices.filter_map(|device| far(facts, process, sitters, device)).collect::<Vec<_>>()
    })
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
    let meant = those(sitters, |one| one.is_busy() || one.is_bound);
    let meant = if meant.is_empty() { sitters } else { &meant };
    let away = those(meant, |one| one.is_busy() && !one.mask.is_subset(&near));
    if away.is_empty() && union(meant).is_subset(&near) {
        return None;
    }
    let subjects = if away.is_empty() { meant } else { &away };
    let what = format!(
        "{} has {} open, which is near {}, but {} may run on {}",
        super::named_process(process),
        device.name,
        cpus(&near),
        super::facts::listed(subjects),
        cpus(&union(subjects))
    );
    let finding =
        Finding::wrong("device-near", what).about(subjects).on(&union(subjects).without(&near));
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
        assert_eq!(
            Made::new(8).parts(1, 4, 4).with("7/7 on 0").told(judge),
            "Unseen several [] on : no program has an accelerator or a network card open: nothing to check"
        );
    }

    #[test]
    fn a_program_far_from_its_device_is_found() {
        assert_eq!(
            with_gpu("0-3").told(judge),
            "Wrong 7 [7] on 0-3: program (7) has /dev/nvidia0 open, which is near CPUs 4-7, but thread 7 'main' may run on CPUs 0-3 -> taskset -acp 4-7 7"
        );
        assert_eq!(judge(&with_gpu("3-4").facts())[0].cpus, "3", "half of it is far");
    }

    #[test]
    fn program_near_device_is_healthy() {
        assert_eq!(with_gpu("5").told(judge), "");
        let mut made = with_gpu("5");
        made.seating.processes[0].devices[0].cpus = None;
        assert_eq!(made.told(judge), "", "its node tells the same");
        let idle = with_gpu("5").with("7/8 on 0-7");
        assert_eq!(idle.told(judge), "", "a thread that sleeps and that nobody bound");
    }
}
