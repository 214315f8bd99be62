//! `one-per-cpu` and `one-per-core`: a CPU or core for each thread.

use super::facts::{SeatingFacts, Sitter, WANTED, by_place, cpus, listed, sum, those, union};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::rule::Rule;
use seatmap_data::machine::Pu;
use seatmap_data::words::agreeing;
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeSet;

pub fn cpu(facts: &SeatingFacts) -> Vec<Finding> {
    of(facts, &Rule::OnePerCpu.to_string(), "CPU", |pu| Some(pu.os))
}

pub fn core(facts: &SeatingFacts) -> Vec<Finding> {
    of(facts, &Rule::OnePerCore.to_string(), "core", |pu| pu.core)
}

/// Sleeping, unconfined threads may be anywhere; a program without a confined thread breaks the
/// rule.
fn of(facts: &SeatingFacts, rule: &str, noun: &str, level: fn(&Pu) -> Option<u32>) -> Vec<Finding> {
    let unknown = facts.unknown(&union(&facts.sitters), level);
    if !unknown.is_empty() {
        return vec![Finding::unseen(
            rule,
            format!("the kernel does not report the {noun} of {}", cpus(&unknown)),
        )];
    }
    let is_confined = |sitter: &Sitter| facts.only_part(&sitter.mask, level).is_some();
    let on = by_place(&facts.sitters, |one| facts.only_part(&one.mask, level));
    let crowded = on.values().filter(|sitters| sitters.len() > 1);
    let mut found: Vec<Finding> =
        crowded.map(|sitters| crowded_part(facts, rule, noun, sitters, level)).collect();
    found.extend(
        facts.of_programs(|process, sitters| loose(rule, noun, process.pid, sitters, &is_confined)),
    );
    found
}

fn crowded_part(
    facts: &SeatingFacts,
    rule: &str,
    noun: &str,
    sitters: &[&Sitter],
    level: fn(&Pu) -> Option<u32>,
) -> Finding {
    let on = union(sitters);
    let what = format!("{} share one {noun} ({})", listed(sitters), cpus(&on));
    let finding = Finding::wrong(rule, what)
        .about(sitters)
        .on(&on)
        .measured(sum(sitters, Sitter::demand_percent), WANTED);
    let pid = sitters[0].pid;
    let taken: CpuSet = facts.sitters.iter().filter_map(Sitter::seat).collect();
    let part = |cpu: u32| facts.topology.pu(cpu).and_then(level);
    let parts: BTreeSet<Option<u32>> = taken.with(&on).iter().map(part).collect();
    let usable = facts.allowed(pid).within(&facts.usual);
    let free: CpuSet = usable.iter().filter(|cpu| !parts.contains(&part(*cpu))).collect();
    finding
        .mended_by_all(sitters[1..].iter().filter_map(|one| facts.bind_to_part(one, &free, level)))
}

fn loose(
    rule: &str,
    noun: &str,
    pid: Tid,
    sitters: &[&Sitter],
    is_confined: &dyn Fn(&Sitter) -> bool,
) -> Option<Finding> {
    let busy = those(sitters, |one| one.is_busy() && !is_confined(one));
    let has_any = sitters.iter().any(|one| is_confined(one));
    let subjects = if busy.is_empty() { sitters } else { &busy };
    if busy.is_empty() && has_any {
        return None;
    }
    let is = agreeing(subjects.len(), "is", "are");
    let on = union(subjects);
    let what =
        format!("{} {is} not bound to one {noun}, but may run on {}", listed(subjects), cpus(&on));
    let finding = Finding::wrong(rule, what).about(subjects).on(&on);
    Some(finding.mended_by(SeatingRemedy::seat(&on.to_string(), [pid])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn idle_threads_sharing_cpu_are_reported() {
        let made = Made::new(4).with("7/7 on 1; 9/9 on 1; 7/8 on 2");
        assert_eq!(
            made.told(cpu),
            "Wrong several [7, 9] on 1: thread 7 'main' and thread 9 'main' share one CPU (CPU 1) -> taskset -cp 0 9"
        );
    }

    #[test]
    fn remedies_give_each_thread_separate_part() {
        let made = Made::new(4).with("7/7 on 0; 7/8 on 0; 9/9 on 1");
        let made = made.with("9/10 on 1");
        let remedies = |found: Vec<Finding>| -> Vec<Option<String>> {
            found.into_iter().map(|one| one.remedy).collect()
        };
        let apart = ["taskset -cp 2 8", "taskset -cp 3 10"].map(|it| Some(it.to_owned()));
        assert_eq!(remedies(cpu(&made.facts())), apart);
        let crowd = Made::new(8).parts(2, 8, 8);
        let crowd = crowd.with("7/7 on 0; 7/8 on 1; 7/9 on 1");
        let each = Some("taskset -cp 2 8; taskset -cp 4 9".to_owned());
        assert_eq!(remedies(core(&crowd.facts())), [each], "a core for each");
    }

    #[test]
    fn busy_threads_must_be_bound() {
        let made = Made::new(4).with("7/7 on 1; 7/8 on 0-3: 50+0");
        assert_eq!(
            made.told(cpu),
            "Wrong 7 [8] on 0-3: thread 8 'worker' is not bound to one CPU, but may run on CPUs 0-3 -> seatmap run --cpus 0-3 --pid 7"
        );
        let nobody = cpu(&Made::new(4).with("7/7 on 0-3").facts());
        assert!(nobody.len() == 1 && nobody[0].is_wrong(), "{nobody:?}");
    }

    #[test]
    fn one_thread_per_cpu_is_healthy() {
        let made = Made::new(4).with("7/7 on 1: 99+0; 7/8 on 2: 99+0; 7/9 on 0-3");
        assert_eq!((cpu(&made.facts()), core(&made.facts())), (vec![], vec![]));
    }

    #[test]
    fn hardware_threads_count_as_one_core() {
        let made = Made::new(4).parts(2, 4, 4).with("7/7 on 0; 7/8 on 1");
        assert_eq!(made.told(cpu), "");
        assert_eq!(core(&made.facts()).len(), 1);
        let whole = Made::new(4).parts(2, 4, 4).with("7/7 on 0-1; 7/8 on 2-3");
        assert_eq!(whole.told(core), "");
    }
}
