//! `same-...` and `spread=...`: a program's threads and the parts of the machine.

use super::facts::{SeatingFacts, Sitter, by_place, count, cpus, listed, those, union};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::rule::Rule;
use crate::seating::Process;
use seatmap_data::machine::Level;
use seatmap_data::words::joined;
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeMap;

pub fn same(facts: &SeatingFacts, level: Level) -> Vec<Finding> {
    let rule = Rule::Same(level).to_string();
    distinct(
        facts.of_programs(|process, sitters| {
            on_several_parts(facts, &rule, level, process, sitters)
        }),
    )
}

fn on_several_parts(
    facts: &SeatingFacts,
    rule: &str,
    level: Level,
    process: &Process,
    sitters: &[&Sitter],
) -> Option<Finding> {
    let all = union(sitters);
    let Some(parts) = facts.parts(&all, |pu| level.of(pu)) else {
        return Some(unknown(rule, level));
    };
    if parts.len() <= 1 {
        return None;
    }
    let what = format!(
        "{} may run on {} of {}: {}",
        super::named_process(process),
        cpus(&all),
        count(parts.len(), noun(level)),
        listed(sitters)
    );
    let finding = Finding::wrong(rule, what).about(sitters).on(&all);
    let allowed = facts.allowed(process.pid);
    let near = facts.cpus_of(|pu| level.of(pu), parts.first().copied()?).within(&allowed);
    Some(finding.mended_by(SeatingRemedy::bind_all(&near, process.pid)))
}

/// Processes with a common ancestor are one program, such as a job's ranks.
pub fn spread(facts: &SeatingFacts, level: Level) -> Vec<Finding> {
    let families = by_place(&facts.sitters, |one| Some(facts.family(one.pid)));
    let families = families.iter();
    distinct(families.filter_map(|(pid, all)| of_family(facts, level, *pid, all)).collect())
}

fn of_family(
    facts: &SeatingFacts,
    level: Level,
    family: Tid,
    sitters: &[&Sitter],
) -> Option<Finding> {
    let rule = Rule::Spread(level).to_string();
    let usable = facts.seats_of(sitters.first()?.thread.pid);
    let Some(parts) = facts.parts(&usable, |pu| level.of(pu)) else {
        return Some(unknown(&rule, level));
    };
    let mut on: BTreeMap<u32, usize> = parts.into_iter().map(|part| (part, 0)).collect();
    let part = |one: &Sitter| facts.only_part(&one.mask, |pu| level.of(pu));
    sitters.iter().filter_map(|one| part(one)).for_each(|part| *on.entry(part).or_default() += 1);
    let loose = those(sitters, |one| one.is_busy() && part(one).is_none());
    let least = on.values().min()?;
    let most = on.values().max()?;
    let what = match (*most, loose.is_empty()) {
        (0, true) => format!("{} may run on more than one {}", listed(sitters), noun(level)),
        (_, false) => format!("{} may run on more than one {}", listed(&loose), noun(level)),
        _ if most - least <= 1 => return None,
        _ => {
            let each = on.iter().map(|(part, threads)| format!("{threads} on {part}"));
            let name = noun(level);
            format!(
                "the threads are not spread evenly over the {}: {}",
                count(on.len(), name),
                joined(each, ", ")
            )
        }
    };
    let subjects = if loose.is_empty() { sitters } else { &loose };
    let seats = (0..sitters.len()).filter_map(|at| nth(facts, &usable, level, at));
    let seats = joined(seats, ",");
    // A control group may have only isolated CPUs.
    let remedy = (!seats.is_empty()).then(|| SeatingRemedy::seat(&seats, [family]));
    let finding = Finding::wrong(&rule, what).about(subjects).of(family).on(&union(subjects));
    Some(finding.mended_by_all(remedy))
}

fn noun(level: Level) -> &'static str {
    match level {
        Level::L3 => "L3 cache",
        Level::Numa => "NUMA node",
        level => level.name(),
    }
}

fn nth(facts: &SeatingFacts, usable: &CpuSet, level: Level, at: usize) -> Option<u32> {
    let parts: Vec<u32> = facts.parts(usable, |pu| level.of(pu))?.into_iter().collect();
    let turn = at.checked_rem(parts.len())?;
    let cpus = facts.cpus_of(|pu| level.of(pu), parts[turn]).within(usable);
    cpus.iter().nth(at / parts.len() % cpus.len())
}

fn unknown(rule: &str, level: Level) -> Finding {
    Finding::unseen(
        rule,
        format!("the kernel does not report which CPUs share one {}", noun(level)),
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
        let made = machine().with("7/7 on 0; 7/8 on 2");
        assert_eq!(
            made.told(|facts| same(facts, Level::L3)),
            "Wrong 7 [7, 8] on 0,2: program (7) may run on CPUs 0,2 of 2 L3 caches: thread 7 'main' and thread 8 'worker' -> taskset -acp 0,1 7"
        );
        assert_eq!(made.told(|facts| same(facts, Level::Numa)), "");
        let two_programs = machine().with("7/7 on 0-1; 9/9 on 2-3");
        assert_eq!(
            two_programs.told(|facts| same(facts, Level::L3)),
            "",
            "each process has its own"
        );
    }

    #[test]
    fn unevenly_spread_threads_are_found() {
        let made = machine().with("7/7 on 0; 7/8 on 1; 7/9 on 2");
        assert_eq!(
            made.told(|facts| spread(facts, Level::Numa)),
            "Wrong 7 [7, 8, 9] on 0-2: the threads are not spread evenly over the 2 NUMA nodes: 3 on 0, 0 on 1 -> seatmap run --cpus 0,4,1 --pid 7"
        );
    }

    #[test]
    fn uneven_isolated_threads_get_no_remedy() {
        let made = machine().isolated("2-7").with("7/7 on 2; 7/8 on 3");
        let made = made.with("7/9 on 2-3; 7/10 on 4").group(Some("2-7"), None, 0);
        assert_eq!(
            made.told(|facts| spread(facts, Level::Numa)),
            "Wrong 7 [7, 8, 9, 10] on 2-4: the threads are not spread evenly over the 2 NUMA nodes: 3 on 0, 1 on 1"
        );
    }

    #[test]
    fn evenly_spread_threads_are_healthy() {
        let made = machine().with("7/7 on 0; 7/8 on 4; 7/9 on 1");
        assert_eq!(made.told(|facts| spread(facts, Level::Numa)), "");
        let ranks = machine().process(5, 1).process(7, 5).process(8, 5);
        let ranks = ranks.with("7/7 on 0-3; 8/8 on 4-7");
        assert_eq!(ranks.told(|facts| spread(facts, Level::Numa)), "", "ranks count together");
    }

    #[test]
    fn unconfined_programs_are_found() {
        assert_eq!(
            machine().with("7/7 on 0-7").told(|facts| spread(facts, Level::Numa)),
            "Wrong 7 [7] on 0-7: thread 7 'main' may run on more than one NUMA node -> seatmap run --cpus 0 --pid 7"
        );
        let busy = machine().with("7/7 on 0; 7/8 on 0-7: 50+0");
        assert_eq!(spread(&busy.facts(), Level::Numa)[0].tids, [8]);
    }

    #[test]
    fn unknown_parts_are_reported_once() {
        let mut made = Made::new(2).with("7/7 on 0; 9/9 on 1");
        made.topology.pus.iter_mut().for_each(|pu| pu.l3 = None);
        for found in [same(&made.facts(), Level::L3), spread(&made.facts(), Level::L3)] {
            assert!(found.len() == 1 && found[0].gravity == crate::Gravity::Unseen, "{found:?}");
        }
    }
}
