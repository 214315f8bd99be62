//! `same-...` and `spread=...`: a program's threads and the parts of the machine.

use super::facts::{SeatingFacts, Sitter, count, cpus, listed, union};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::rule::{Rule, RuleLevel};
use crate::seating::Process;
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeMap;

pub fn same(facts: &SeatingFacts, level: RuleLevel) -> Vec<Finding> {
    let rule = Rule::Same(level).to_string();
    distinct(
        facts
            .programs()
            .filter_map(|(process, sitters)| {
                on_several_parts(facts, &rule, level, process, &sitters)
            })
            .collect(),
    )
}

fn on_several_parts(
    facts: &SeatingFacts,
    rule: &str,
    level: RuleLevel,
    process: &Process,
    sitters: &[&Sitter],
) -> Option<Finding> {
    let all = union(sitters);
    let Some(parts) = facts.parts(&all, |pu| level.of(pu)) else {
        return Some(unknown(rule, level));
    };
    let first = sitters.first().filter(|_| parts.len() > 1)?;
    let what = format!(
        "{} may run on {} of {}: {}",
        super::named_process(process),
        cpus(&all),
        count(parts.len(), level.name()),
        listed(sitters)
    );
    let finding =
        Finding::wrong(rule, what).of(process.pid).tids(sitters.iter().map(|sitter| sitter.tid()));
    let allowed = facts.allowed(process.pid);
    let near = facts.cpus_of(|pu| level.of(pu), parts.first().copied()?).within(&allowed);
    let finding = finding.on(&all).at_most(first.thread.age_s);
    Some(finding.mended_by(SeatingRemedy::bind_all(&near, process.pid)))
}

/// Processes with a common ancestor are one program, so that a job's ranks count together.
pub fn spread(facts: &SeatingFacts, level: RuleLevel) -> Vec<Finding> {
    let mut families: BTreeMap<Tid, Vec<&Sitter>> = BTreeMap::new();
    facts
        .sitters
        .iter()
        .for_each(|one| families.entry(facts.family(one.thread.pid)).or_default().push(one));
    distinct(
        families
            .into_iter()
            .filter_map(|(pid, sitters)| of_family(facts, level, pid, &sitters))
            .collect(),
    )
}

fn of_family(
    facts: &SeatingFacts,
    level: RuleLevel,
    family: Tid,
    sitters: &[&Sitter],
) -> Option<Finding> {
    let rule = Rule::Spread(level).to_string();
    let usable = facts.seats_of(sitters.first()?.thread.pid);
    let Some(parts) = facts.parts(&usable, |pu| level.of(pu)) else {
        return Some(unknown(&rule, level));
    };
    let mut on: BTreeMap<u32, usize> = parts.into_iter().map(|part| (part, 0)).collect();
    sitters
        .iter()
        .copied()
        .filter_map(|one| facts.only_part(&one.mask, |pu| level.of(pu)))
        .for_each(|part| *on.entry(part).or_default() += 1);
    let loose: Vec<&Sitter> = sitters
        .iter()
        .filter(|one| one.is_busy())
        .filter(|one| facts.only_part(&one.mask, |pu| level.of(pu)).is_none())
        .copied()
        .collect();
    let least = on.values().min()?;
    let most = on.values().max()?;
    let what = match (*most, loose.is_empty()) {
        (0, true) => format!("{} may run on more than one {}", listed(sitters), level.name()),
        (_, false) => format!("{} may run on more than one {}", listed(&loose), level.name()),
        _ if most - least <= 1 => return None,
        _ => {
            let each: Vec<String> =
                on.iter().map(|(part, threads)| format!("{threads} on {part}")).collect();
            let name = level.name();
            format!(
                "the threads are not spread evenly over the {}: {}",
                count(on.len(), name),
                each.join(", ")
            )
        }
    };
    let subjects = if loose.is_empty() { sitters } else { &loose };
    let finding =
        Finding::wrong(&rule, what).of(family).tids(subjects.iter().map(|sitter| sitter.tid()));
    let seats = sitters
        .iter()
        .enumerate()
        .filter_map(|(at, _)| nth(facts, &usable, level, at))
        .map(|cpu| cpu.to_string());
    let seats: Vec<String> = seats.collect();
    // A control group may have only isolated CPUs.
    let remedy = (!seats.is_empty()).then(|| SeatingRemedy::seat(&seats.join(","), [family]));
    Some(finding.on(&union(subjects)).at_most(subjects[0].thread.age_s).mended_by_all(remedy))
}

fn nth(facts: &SeatingFacts, usable: &CpuSet, level: RuleLevel, at: usize) -> Option<u32> {
    let parts: Vec<u32> = facts.parts(usable, |pu| level.of(pu))?.into_iter().collect();
    let turn = at.checked_rem(parts.len())?;
    let cpus = facts.cpus_of(|pu| level.of(pu), parts[turn]).within(usable);
    cpus.iter().nth(at / parts.len() % cpus.len())
}

fn unknown(rule: &str, level: RuleLevel) -> Finding {
    Finding::unseen(
        rule,
        format!("the kernel does not report which CPUs share one {}", level.name()),
    )
}

fn distinct(mut found: Vec<Finding>) -> Vec<Finding> {
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    fn machine() -> Made {
        Made::new(8).parts(1, 2, 4)
    }

    #[test]
    fn threads_in_two_caches_are_found() {
        let made = machine().thread(7, 7, "0").thread(7, 8, "2");
        let found = same(&made.facts(), RuleLevel::L3);
        assert!(found.len() == 1 && found[0].what.contains("CPUs 0,2 of 2 L3 caches"), "{found:?}");
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -acp 0,1 7"));
        assert_eq!(same(&made.facts(), RuleLevel::Numa), []);
        let two_programs = machine().thread(7, 7, "0-1").thread(9, 9, "2-3");
        assert_eq!(same(&two_programs.facts(), RuleLevel::L3), [], "each process has its own");
    }

    #[test]
    fn unevenly_spread_threads_are_found() {
        let made = machine().thread(7, 7, "0").thread(7, 8, "1").thread(7, 9, "2");
        let found = spread(&made.facts(), RuleLevel::Numa);
        assert!(
            found.len() == 1 && found[0].what.contains("2 NUMA nodes: 3 on 0, 0 on 1"),
            "{found:?}"
        );
        assert_eq!(found[0].remedy.as_deref(), Some("seatmap run --cpus 0,4,1 --pid 7"));
    }

    #[test]
    fn uneven_isolated_threads_get_no_remedy() {
        let made = machine().isolated("2-7").thread(7, 7, "2").thread(7, 8, "3");
        let made = made.thread(7, 9, "2-3").thread(7, 10, "4").group(Some("2-7"), None, 0);
        let found = spread(&made.facts(), RuleLevel::Numa);
        assert!(found.len() == 1 && found[0].what.contains("3 on 0, 1 on 1"), "{found:?}");
        assert_eq!(found[0].remedy, None);
    }

    #[test]
    fn evenly_spread_threads_are_healthy() {
        let made = machine().thread(7, 7, "0").thread(7, 8, "4").thread(7, 9, "1");
        assert_eq!(spread(&made.facts(), RuleLevel::Numa), []);
        let ranks = machine().process(5, 1).process(7, 5).process(8, 5);
        let ranks = ranks.thread(7, 7, "0-3").thread(8, 8, "4-7");
        assert_eq!(spread(&ranks.facts(), RuleLevel::Numa), [], "ranks count together");
    }

    #[test]
    fn unconfined_programs_are_found() {
        let found = spread(&machine().thread(7, 7, "0-7").facts(), RuleLevel::Numa);
        assert!(
            found.len() == 1 && found[0].what.contains("may run on more than one NUMA node"),
            "{found:?}"
        );
        let busy = machine().thread(7, 7, "0").busy(7, 8, "0-7", 50.0, 0.0);
        assert_eq!(spread(&busy.facts(), RuleLevel::Numa)[0].tids, [8]);
    }

    #[test]
    fn unknown_parts_are_reported_once() {
        let mut made = Made::new(2).thread(7, 7, "0").thread(9, 9, "1");
        made.topology.pus.iter_mut().for_each(|pu| pu.l3 = None);
        for found in [same(&made.facts(), RuleLevel::L3), spread(&made.facts(), RuleLevel::L3)] {
            assert!(found.len() == 1 && found[0].gravity == crate::Gravity::Unseen, "{found:?}");
        }
    }
}
