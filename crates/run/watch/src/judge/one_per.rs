//! `one-per-cpu` and `one-per-core`: a CPU or core for each thread.

use super::facts::{SeatingFacts, Sitter, WANTED, cpus, listed, only_process};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::rule::Rule;
use crate::seating::Process;
use seatmap_data::machine::Pu;
use seatmap_os::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

pub fn cpu(facts: &SeatingFacts) -> Vec<Finding> {
    of(facts, &Rule::OnePerCpu.to_string(), "CPU", |pu| Some(pu.os))
}

pub fn core(facts: &SeatingFacts) -> Vec<Finding> {
    of(facts, &Rule::OnePerCore.to_string(), "core", |pu| pu.core)
}

/// Sleeping, unconfined threads may be anywhere; a program without a confined thread breaks the
/// rule.
fn of(facts: &SeatingFacts, rule: &str, noun: &str, level: fn(&Pu) -> Option<u32>) -> Vec<Finding> {
    let unknown =
        facts.unknown(&super::facts::union(&facts.sitters.iter().collect::<Vec<_>>()), level);
    if !unknown.is_empty() {
        return vec![Finding::unseen(
            rule,
            format!("the kernel does not report the {noun} of {}", cpus(&unknown)),
        )];
    }
    let mut on: BTreeMap<u32, Vec<&Sitter>> = BTreeMap::new();
    for sitter in &facts.sitters {
        if let Some(part) = facts.only_part(&sitter.mask, level) {
            on.entry(part).or_default().push(sitter);
        }
    }
    let mut found: Vec<Finding> = Vec::new();
    for sitters in on.values().filter(|sitters| sitters.len() > 1) {
        found.push(crowded(facts, rule, noun, sitters, level));
    }
    for (process, sitters) in facts.programs() {
        found.extend(loose(rule, noun, process, &sitters, &|sitter: &&Sitter| {
            facts.only_part(&sitter.mask, level).is_some()
        }));
    }
    found
}

fn crowded(
    facts: &SeatingFacts,
    rule: &str,
    noun: &str,
    sitters: &[&Sitter],
    level: fn(&Pu) -> Option<u32>,
) -> Finding {
    let on = super::facts::union(sitters);
    let what = format!("{} share one {noun} ({})", listed(sitters), cpus(&on));
    let demand_percent: f64 = sitters.iter().map(|sitter| sitter.demand_percent()).sum();
    let finding =
        Finding::wrong(rule, what).tids(sitters.iter().map(|sitter| sitter.tid())).on(&on);
    let finding = finding.at_most(sitters[0].thread.age_s).measured(demand_percent, WANTED);
    let finding = Finding { pid: only_process(sitters), ..finding };
    let pid = sitters[0].thread.pid;
    let taken: CpuSet = facts.sitters.iter().filter_map(Sitter::seat).collect();
    let parts: BTreeSet<Option<u32>> =
        taken.with(&on).iter().map(|cpu| facts.topology.pu(cpu).and_then(level)).collect();
    let usable = facts.allowed(pid).within(&facts.usual);
    let free: CpuSet = usable
        .iter()
        .filter(|cpu| !parts.contains(&facts.topology.pu(*cpu).and_then(level)))
        .collect();
    let moved: Vec<SeatingRemedy> = sitters[1..]
        .iter()
        .filter_map(|one| {
            let to = facts.promise_part(one.tid(), &free, level)?;
            Some(SeatingRemedy::bind(&to, [one.tid()]))
        })
        .collect();
    finding.mended_by_all(moved)
}

fn loose(
    rule: &str,
    noun: &str,
    process: &Process,
    sitters: &[&Sitter],
    confined: &dyn Fn(&&Sitter) -> bool,
) -> Option<Finding> {
    let busy: Vec<&Sitter> =
        sitters.iter().filter(|one| one.is_busy() && !confined(one)).copied().collect();
    let has_any = sitters.iter().any(confined);
    let subjects = if busy.is_empty() { sitters } else { &busy };
    let first = subjects.first().filter(|_| !busy.is_empty() || !has_any)?;
    let is = if subjects.len() == 1 { "is" } else { "are" };
    let on = super::facts::union(subjects);
    let what =
        format!("{} {is} not bound to one {noun}, but may run on {}", listed(subjects), cpus(&on));
    let finding = Finding::wrong(rule, what)
        .of(process.pid)
        .tids(subjects.iter().map(|sitter| sitter.tid()))
        .on(&on);
    let list = on.to_string();
    Some(finding.at_most(first.thread.age_s).mended_by(SeatingRemedy::seat(&list, [process.pid])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn idle_threads_sharing_cpu_are_reported() {
        let made = Made::new(4).thread(7, 7, "1").thread(9, 9, "1").thread(7, 8, "2");
        let found = cpu(&made.facts());
        assert!(found.len() == 1 && found[0].is_wrong() && found[0].tids == [7, 9], "{found:?}");
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -cp 0 9"));
    }

    #[test]
    fn remedies_give_each_thread_separate_part() {
        let made = Made::new(4).thread(7, 7, "0").thread(7, 8, "0").thread(9, 9, "1");
        let made = made.thread(9, 10, "1");
        let remedies = |found: Vec<Finding>| -> Vec<Option<String>> {
            found.into_iter().map(|one| one.remedy).collect()
        };
        let apart = ["taskset -cp 2 8", "taskset -cp 3 10"].map(|it| Some(it.to_owned()));
        assert_eq!(remedies(cpu(&made.facts())), apart);
        let crowd = Made::new(8).parts(2, 8, 8);
        let crowd = crowd.thread(7, 7, "0").thread(7, 8, "1").thread(7, 9, "1");
        let each = Some("taskset -cp 2 8; taskset -cp 4 9".to_owned());
        assert_eq!(remedies(core(&crowd.facts())), [each], "a core for each");
    }

    #[test]
    fn busy_threads_must_be_bound() {
        let made = Made::new(4).thread(7, 7, "1").busy(7, 8, "0-3", 50.0, 0.0);
        let found = cpu(&made.facts());
        assert!(
            found.len() == 1 && found[0].what.contains("thread 8 'worker' is not bound to one CPU"),
            "{found:?}"
        );
        let nobody = cpu(&Made::new(4).thread(7, 7, "0-3").facts());
        assert!(nobody.len() == 1 && nobody[0].is_wrong(), "{nobody:?}");
    }

    #[test]
    fn one_thread_per_cpu_is_healthy() {
        let made =
            Made::new(4).busy(7, 7, "1", 99.0, 0.0).busy(7, 8, "2", 99.0, 0.0).thread(7, 9, "0-3");
        assert_eq!((cpu(&made.facts()), core(&made.facts())), (vec![], vec![]));
    }

    #[test]
    fn hardware_threads_count_as_one_core() {
        let made = Made::new(4).parts(2, 4, 4).thread(7, 7, "0").thread(7, 8, "1");
        assert_eq!(cpu(&made.facts()), []);
        assert_eq!(core(&made.facts()).len(), 1);
        let whole = Made::new(4).parts(2, 4, 4).thread(7, 7, "0-1").thread(7, 8, "2-3");
        assert_eq!(core(&whole.facts()), []);
    }
}
