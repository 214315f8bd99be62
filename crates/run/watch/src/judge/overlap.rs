//! `overlap`: programs with seats on the same CPUs.

use super::facts::{SeatingFacts, Sitter, WANTED, count, cpus};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use seatmap_os::{CpuSet, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// Processes with a common chosen ancestor are one program.
pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let mut shared: BTreeMap<Vec<Tid>, Vec<(u32, Vec<&Sitter>)>> = BTreeMap::new();
    for (cpu, sitters) in seated(facts) {
        let mut families: Vec<Tid> =
            sitters.iter().map(|sitter| facts.family(sitter.thread.pid)).collect();
        families.sort_unstable();
        // `shared-cpu` reports threads of one program on one CPU.
        families.dedup();
        if families.len() > 1 {
            shared.entry(families).or_default().push((cpu, sitters));
        }
    }
    shared.into_iter().map(|(families, seats)| of_programs(facts, &families, &seats)).collect()
}

fn seated<'f, 'a>(facts: &'f SeatingFacts<'a>) -> BTreeMap<u32, Vec<&'f Sitter<'a>>> {
    let mut on: BTreeMap<u32, Vec<&Sitter>> = BTreeMap::new();
    for sitter in facts.sitters.iter().filter(|sitter| sitter.is_bound) {
        if let Some(cpu) = sitter.seat() {
            on.entry(cpu).or_default().push(sitter);
        }
    }
    on
}

fn of_programs(facts: &SeatingFacts, families: &[Tid], seats: &[(u32, Vec<&Sitter>)]) -> Finding {
    let on: CpuSet = seats.iter().map(|(cpu, _)| *cpu).collect();
    let demand_percent =
        seats.iter().map(|(_, there)| contended_percent(facts, there)).fold(0.0, f64::max);
    // Many services have a thread per CPU by default; using part of the computer is a choice.
    let is_choice = on.len() > 1 && !facts.usual.is_subset(&on);
    let effect = if demand_percent > 100.0 {
        format!("; on one of them they need {:.1} CPUs together", demand_percent / 100.0)
    } else {
        String::new()
    };
    let what = format!(
        "{} have bound threads to the same {}{effect}",
        programs(facts, families),
        cpus(&on)
    );
    let sitters: Vec<&&Sitter> = seats.iter().flat_map(|(_, there)| there).collect();
    let age_s = sitters.iter().map(|sitter| sitter.thread.age_s).fold(f64::INFINITY, f64::min);
    let finding = Finding::remark("overlap", what).grave_if(demand_percent > 100.0 || is_choice);
    let finding = finding.tids(sitters.iter().map(|sitter| sitter.tid())).on(&on);
    let finding = finding.at_most(age_s);
    let finding =
        if demand_percent > 0.0 { finding.measured(demand_percent, WANTED) } else { finding };
    let Some(last) = families.last() else { return finding };
    // The last program moves, to CPUs without bound threads.
    let taken: CpuSet = facts.sitters.iter().filter_map(Sitter::seat).collect();
    let free = facts.seats_of(*last).without(&taken);
    let to = facts.promise(*last, on.len(), &free);
    finding.mended_by_all(to.map(|to| move_to(facts, *last, &to)))
}

fn programs(facts: &SeatingFacts, families: &[Tid]) -> String {
    const MOST: usize = 3;
    let named: Vec<String> = families
        .iter()
        .take(MOST)
        .map(|pid| facts.process(*pid).map_or_else(|| pid.to_string(), super::named_process))
        .collect();
    match families.len() {
        ..=MOST => {
            format!("{} and {}", named[..named.len() - 1].join(", "), named[named.len() - 1])
        }
        all => format!("{} and {}", named.join(", "), count(all - MOST, "more program")),
    }
}

fn contended_percent(facts: &SeatingFacts, there: &[&Sitter]) -> f64 {
    let busy: Vec<&&Sitter> = there.iter().filter(|one| facts.is_demanding(one)).collect();
    let families: BTreeSet<Tid> =
        busy.iter().map(|sitter| facts.family(sitter.thread.pid)).collect();
    if families.len() > 1 { busy.iter().map(|sitter| sitter.demand_percent()).sum() } else { 0.0 }
}

fn move_to(facts: &SeatingFacts, family: Tid, to: &CpuSet) -> SeatingRemedy {
    let pids = facts
        .seating
        .processes
        .iter()
        .map(|process| process.pid)
        .filter(|pid| facts.family(*pid) == family);
    SeatingRemedy::seat(&to.to_string(), pids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn two_busy_programs_on_one_cpu_are_found() {
        let made = Made::new(4).busy(7, 7, "1", 50.0, 50.0).busy(9, 9, "1", 50.0, 50.0);
        let found = judge(&made.facts());
        assert!(found.len() == 1 && found[0].is_wrong(), "{found:?}");
        assert!(
            found[0].what.contains("program (7) and program (9)")
                && found[0].what.contains("2.0 CPUs"),
            "{found:?}"
        );
        assert_eq!(found[0].remedy.as_deref(), Some("seatmap run --cpus 0 --pid 9"));
    }

    #[test]
    fn idle_programs_with_same_cpus_are_reported() {
        let engine = |made: Made, pid: Tid| made.thread(pid, pid, "0").thread(pid, pid + 1, "1");
        let found = judge(&engine(engine(Made::new(8), 10), 20).facts());
        assert!(found.len() == 1 && found[0].is_wrong() && found[0].cpus == "0,1", "{found:?}");
        let whole = judge(&engine(engine(Made::new(2), 10), 20).facts());
        assert!(whole.len() == 1 && !whole[0].is_wrong(), "a thread for each CPU: {whole:?}");
    }

    #[test]
    fn related_programs_and_wide_masks_may_overlap() {
        let family = Made::new(4).process(5, 1).process(7, 5).process(9, 5);
        let family = family.busy(7, 7, "1", 50.0, 50.0).busy(9, 9, "1", 50.0, 50.0);
        assert_eq!(judge(&family.facts()), []);
        let wide = Made::new(4).busy(7, 7, "0-1", 50.0, 50.0).busy(9, 9, "0-1", 50.0, 50.0);
        assert_eq!(judge(&wide.facts()), []);
    }

    #[test]
    fn two_idle_programs_on_one_cpu_are_remark() {
        let made = Made::new(4).thread(7, 7, "0").thread(9, 9, "0");
        let found = judge(&made.facts());
        assert!(found.len() == 1 && !found[0].is_wrong(), "{found:?}");
    }

    #[test]
    fn many_programs_on_one_cpu_are_one_finding() {
        let made = (100..200).fold(Made::new(4), |made, pid| made.busy(pid, pid, "1", 1.0, 90.0));
        let found = judge(&made.facts());
        assert!(found.len() == 1 && found[0].what.contains("and 97 more programs"), "{found:?}");
    }
}
