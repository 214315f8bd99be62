//! `shared-core`: busy threads on the hardware threads of one core while whole cores idle.

use super::facts::{SeatingFacts, Sitter, cpus, listed};
use crate::finding::Finding;

use seatmap_data::grouped::by_key;
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

/// A movable thread seen on a CPU in this share of the looks counts as being there.
const SITS_PERCENT: f64 = 90.0;

/// Threads placed by a plan may share a core, because they may communicate.
pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let busy = facts.sitters.iter().filter(|sitter| sitter.is_busy() && !sitter.is_as_planned);
    let on: BTreeMap<u32, Vec<(&Sitter, u32)>> = by_key(busy.filter_map(|sitter| {
        let cpu = place(sitter)?;
        Some((facts.topology.pu(cpu)?.core?, (sitter, cpu)))
    }));
    on.into_iter().filter_map(|(core, sitters)| on_core(facts, core, &sitters)).collect()
}

fn place(sitter: &Sitter) -> Option<u32> {
    sitter
        .seat()
        .or_else(|| sitter.ran_on.iter().find(|ran| ran.percent >= SITS_PERCENT).map(|ran| ran.cpu))
}

fn on_core(facts: &SeatingFacts, core: u32, placed: &[(&Sitter, u32)]) -> Option<Finding> {
    let used: CpuSet = placed.iter().map(|(_, cpu)| *cpu).collect();
    let sitters: Vec<&Sitter> = placed.iter().map(|(sitter, _)| *sitter).collect();
    let bound = sitters.iter().find(|sitter| sitter.is_bound && sitter.seat().is_some())?;
    let free = idle_cores(facts, &facts.allowed_to(bound).within(&facts.usual));
    // Other rules report threads on the same CPU.
    if free.is_empty() || used.len() < 2 {
        return None;
    }
    let what = format!(
        "{} run on {}, the hardware threads of one core, while whole cores had little to do ({})",
        listed(&sitters),
        cpus(&used),
        cpus(&free)
    );
    let percent = used.iter().filter_map(|cpu| facts.busy_percent(cpu)).sum();
    let finding = Finding::wrong("shared-core", what)
        .threads(&sitters)
        .of(bound.pid)
        .on(&facts.cpus_of(|pu| pu.core, core))
        .since(facts.seating.watched_s)
        .measured(percent, "percent of one CPU");
    Some(finding.mended_by_all(facts.bind_to_part(bound, &free, |pu| pu.core)))
}

fn idle_cores(facts: &SeatingFacts, allowed: &CpuSet) -> CpuSet {
    let idle = facts.idle(&facts.online);
    allowed
        .iter()
        .filter(|cpu| {
            let core = facts.topology.pu(*cpu).and_then(|pu| pu.core);
            core.is_some_and(|core| facts.cpus_of(|pu| pu.core, core).is_subset(&idle))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    fn smt() -> Made {
        Made::new(8).parts(2, 8, 8)
    }

    #[test]
    fn two_busy_threads_on_one_core_are_found() {
        let made = smt().with("7/7 on 0: 99+0; 7/8 on 1: 99+0");
        assert_eq!(
            made.told(judge),
            "Wrong 7 [7, 8] on 0,1: thread 7 'main' and thread 8 'worker' run on CPUs 0,1, the hardware threads of one core, while whole cores had little to do (CPUs 2-7) -> taskset -cp 2 7"
        );
    }

    #[test]
    fn remedy_gives_each_thread_separate_core() {
        let mut made = smt();
        for cpu in 0..4_u8 {
            made = made.busy(7, 7 + i32::from(cpu), &cpu.to_string(), 99.0, 0.0);
        }
        let found = judge(&made.facts());
        let remedies: Vec<&str> = found.iter().filter_map(|one| one.remedy.as_deref()).collect();
        assert_eq!(remedies, ["taskset -cp 4 7", "taskset -cp 6 9"]);
    }

    #[test]
    fn roaming_thread_on_sibling_is_found() {
        let mut made = smt().with("7/7 on 0: 99+0; 9/9 on 0-7: 99+0");
        made.seating.threads[1].ran_on = vec![crate::seating::RanOn { cpu: 1, percent: 100.0 }];
        assert_eq!(judge(&made.facts()).len(), 1);
        made.seating.threads[1].ran_on[0].percent = 50.0;
        assert_eq!(made.told(judge), "");
    }

    #[test]
    fn full_computer_and_separate_cores_are_healthy() {
        let made = smt().with("7/7 on 0: 99+0; 7/8 on 1: 99+0");
        assert_eq!(made.clone().taken("2,4,6").told(judge), "", "no core is wholly idle");
        let apart = smt().with("7/7 on 0: 99+0; 7/8 on 2: 99+0");
        assert_eq!(apart.told(judge), "");
        let idle = smt().with("7/7 on 0: 99+0; 7/8 on 1");
        assert_eq!(idle.told(judge), "");
        let unbound = smt().with("7/7 on 0-7: 99+0; 7/8 on 0-7: 99+0");
        assert_eq!(unbound.told(judge), "");
    }
}
