//! `shared-cpu`: busy threads of one program with only one CPU while others idle.

use super::facts::{SeatingFacts, Sitter, WANTED, by_place, cpus, listed, sum};
use crate::finding::Finding;

use seatmap_os::CpuSet;

/// Threads that demand this share of one CPU have too little.
const TOO_MUCH_PERCENT: f64 = 110.0;

/// A remark if no other CPU has room.
pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let there = by_place(&facts.sitters, |one| {
        let is_judged = one.is_bound && facts.is_demanding(one) && !one.is_as_planned;
        Some((one.seat().filter(|_| is_judged)?, facts.family(one.pid)))
    });
    there.into_iter().filter_map(|((cpu, _), sitters)| on_cpu(facts, cpu, &sitters)).collect()
}

fn on_cpu(facts: &SeatingFacts, cpu: u32, sitters: &[&Sitter]) -> Option<Finding> {
    let first = sitters.first().filter(|_| sitters.len() > 1)?;
    let demand_percent = sum(sitters, Sitter::demand_percent);
    let others = facts.seats_of(first.pid).without(&CpuSet::single(cpu));
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
    let finding = Finding::remark("shared-cpu", what)
        .grave_if(!idle.is_empty())
        .about(sitters)
        .on(&CpuSet::single(cpu))
        .measured(demand_percent, WANTED);
    let moved = sitters[1..].iter().filter_map(|sitter| facts.bind_to_one(sitter, &idle));
    Some(finding.mended_by_all(moved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn two_busy_threads_on_one_cpu_are_found() {
        let made = Made::new(4).with("7/7 on 1: 50+50; 7/8 on 1: 50+50");
        assert_eq!(
            made.told(judge),
            "Wrong 7 [7, 8] on 1: thread 7 'main' and thread 8 'worker' are confined to CPU 1 and need 2.0 CPUs, while CPUs 0,2,3 had little to do -> taskset -cp 0 8"
        );
    }

    /// With barriers: each has an eighth of the CPU.
    #[test]
    fn many_throttled_threads_on_one_cpu_are_reported() {
        let crowd = |made: Made, run_percent| {
            (7..15).fold(made, |made, tid| made.busy(7, tid, "1", run_percent, 50.0))
        };
        assert_eq!(
            crowd(Made::new(4), 12.0).told(judge),
            "Wrong 7 [7, 8, 9, 10, 11, 12, 13, 14] on 1: thread 7 'main', thread 8 'worker', thread 9 'worker' and 5 more threads are confined to CPU 1 and need 5.0 CPUs, while CPUs 0,2,3 had little to do -> taskset -cp 0 8; taskset -cp 2 9; taskset -cp 3 10"
        );
        // Threads that wake together wait for each other, and leave the CPU idle.
        assert_eq!(crowd(Made::new(4), 4.0).told(judge), "");
    }

    #[test]
    fn ranks_of_one_job_on_one_cpu_are_found() {
        let made = Made::new(4).process(5, 1).process(7, 5).process(9, 5);
        assert_eq!(
            made.with("7/7 on 1: 50+50; 9/9 on 1: 50+50").told(judge),
            "Wrong several [7, 9] on 1: thread 7 'main' and thread 9 'main' are confined to CPU 1 and need 2.0 CPUs, while CPUs 0,2,3 had little to do -> taskset -cp 0 9"
        );
    }

    #[test]
    fn fitting_threads_on_one_cpu_are_healthy() {
        let made = Made::new(4).with("7/7 on 1: 40+5; 7/8 on 1: 40+5");
        assert_eq!(made.told(judge), "");
        let wide = Made::new(4).with("7/7 on 0-1: 90+60; 7/8 on 0-1: 90+60");
        assert_eq!(wide.told(judge), "");
    }

    #[test]
    fn full_computer_softens_and_narrow_group_silences_finding() {
        let made = Made::new(2).with("7/7 on 1: 50+50; 7/8 on 1: 50+50");
        assert_eq!(
            made.clone().taken("0").told(judge),
            "Remark 7 [7, 8] on 1: thread 7 'main' and thread 8 'worker' are confined to CPU 1 and need 2.0 CPUs, while the other CPUs are busy, too"
        );
        assert_eq!(made.group(Some("1"), None, 0).told(judge), "", "its group has this CPU alone");
    }
}
