//! `shared-cpu`: busy threads of one program with only one CPU while others idle.

use super::facts::{SeatingFacts, Sitter, WANTED, cpus, listed};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeMap;

/// Threads that demand this share of one CPU have too little.
const TOO_MUCH_PERCENT: f64 = 110.0;

/// A remark if no other CPU has room.
pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let mut there: BTreeMap<(u32, Tid), Vec<&Sitter>> = BTreeMap::new();
    for sitter in facts
        .sitters
        .iter()
        .filter(|one| one.is_bound && facts.is_demanding(one) && !one.is_as_planned)
    {
        if let Some(cpu) = sitter.seat() {
            there.entry((cpu, facts.family(sitter.thread.pid))).or_default().push(sitter);
        }
    }
    there.into_iter().filter_map(|((cpu, _), sitters)| on_cpu(facts, cpu, &sitters)).collect()
}

fn on_cpu(facts: &SeatingFacts, cpu: u32, sitters: &[&Sitter]) -> Option<Finding> {
    let first = sitters.first().filter(|_| sitters.len() > 1)?;
    let demand_percent: f64 = sitters.iter().map(|sitter| sitter.demand_percent()).sum();
    let others = facts.seats_of(first.thread.pid).without(&CpuSet::single(cpu));
    if demand_percent < TOO_MUCH_PERCENT || others.is_empty() {
        return None;
    }
    let idle = facts.idle(&others);
    let beside = if idle.is_empty() {
        "the other CPUs are busy, too".to_owned()
    } else {
        format!("{} had little to do", cpus(&idle))
    };
    let what = format!(
        "{} are confined to CPU {cpu} and need {:.1} CPUs, while {beside}",
        listed(sitters),
        demand_percent / 100.0
    );
    let pids: Vec<Tid> = sitters.iter().map(|sitter| sitter.thread.pid).collect();
    let finding =
        Finding::remark("shared-cpu", what).grave_if(!idle.is_empty()).on(&CpuSet::single(cpu));
    let finding =
        finding.tids(sitters.iter().map(|sitter| sitter.tid())).at_most(first.thread.age_s);
    let finding = finding.measured(demand_percent, WANTED);
    let finding =
        if pids.iter().all(|pid| *pid == pids[0]) { finding.of(pids[0]) } else { finding };
    let moved: Vec<SeatingRemedy> = sitters[1..]
        .iter()
        .filter_map(|sitter| {
            let to = facts.promise(sitter.tid(), 1, &idle)?;
            Some(SeatingRemedy::bind(&to, [sitter.tid()]))
        })
        .collect();
    Some(finding.mended_by_all(moved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn two_busy_threads_on_one_cpu_are_found() {
        let made = Made::new(4).busy(7, 7, "1", 50.0, 50.0).busy(7, 8, "1", 50.0, 50.0);
        let found = judge(&made.facts());
        let what = "thread 7 'main' and thread 8 'worker' are confined to CPU 1 and need 2.0 CPUs, while CPUs 0,2,3 had \
                    little to do";
        assert_eq!((found.len(), found[0].what.as_str(), found[0].pid), (1, what, Some(7)));
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -cp 0 8"));
        assert!(found[0].is_wrong());
    }

    /// With barriers: each has an eighth of the CPU.
    #[test]
    fn many_throttled_threads_on_one_cpu_are_reported() {
        let crowd = |made: Made, run_percent| {
            (7..15).fold(made, |made, tid| made.busy(7, tid, "1", run_percent, 50.0))
        };
        let found = judge(&crowd(Made::new(4), 12.0).facts());
        assert!(found.len() == 1 && found[0].is_wrong() && found[0].tids.len() == 8, "{found:?}");
        // Threads that wake together wait for each other, and leave the CPU idle.
        assert_eq!(judge(&crowd(Made::new(4), 4.0).facts()), []);
    }

    #[test]
    fn ranks_of_one_job_on_one_cpu_are_found() {
        let made = Made::new(4).process(5, 1).process(7, 5).process(9, 5);
        let found = judge(&made.busy(7, 7, "1", 50.0, 50.0).busy(9, 9, "1", 50.0, 50.0).facts());
        assert!(found.len() == 1 && found[0].pid.is_none(), "{found:?}");
    }

    #[test]
    fn fitting_threads_on_one_cpu_are_healthy() {
        let made = Made::new(4).busy(7, 7, "1", 40.0, 5.0).busy(7, 8, "1", 40.0, 5.0);
        assert_eq!(judge(&made.facts()), []);
        let wide = Made::new(4).busy(7, 7, "0-1", 90.0, 60.0).busy(7, 8, "0-1", 90.0, 60.0);
        assert_eq!(judge(&wide.facts()), []);
    }

    #[test]
    fn full_computer_softens_and_narrow_group_silences_finding() {
        let made = Made::new(2).busy(7, 7, "1", 50.0, 50.0).busy(7, 8, "1", 50.0, 50.0);
        assert!(!judge(&made.clone().taken("0").facts())[0].is_wrong());
        assert_eq!(
            judge(&made.group(Some("1"), None, 0).facts()),
            [],
            "its group has this CPU alone"
        );
    }
}
