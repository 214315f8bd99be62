//! `overlap`: programs with seats on the same CPUs.

use super::facts::{
    SeatingFacts, Sitter, WANTED, by_place, cpus, first_few, sum, those, youngest_s,
};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use seatmap_data::grouped::by_key;
use seatmap_os::{CpuSet, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// Processes with a common chosen ancestor are one program.
pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let bound = facts.sitters.iter().filter(|sitter| sitter.is_bound);
    let seats = by_place(bound, Sitter::seat).into_iter();
    let shared = seats.map(|seat| (families(facts, &seat.1), seat));
    let shared: BTreeMap<BTreeSet<Tid>, Vec<(u32, Vec<&Sitter>)>> =
        by_key(shared.filter(|(families, _)| families.len() > 1));
    shared.into_iter().map(|(families, seats)| of_programs(facts, &families, &seats)).collect()
}

fn families(facts: &SeatingFacts, sitters: &[&Sitter]) -> BTreeSet<Tid> {
    sitters.iter().map(|sitter| facts.family(sitter.pid)).collect()
}

fn of_programs(
    facts: &SeatingFacts,
    families: &BTreeSet<Tid>,
    seats: &[(u32, Vec<&Sitter>)],
) -> Finding {
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
    let named = families
        .iter()
        .map(|pid| facts.process(*pid).map_or_else(|| pid.to_string(), super::named_process));
    let what = format!(
        "{} have bound threads to the same {}{effect}",
        first_few(named, "program"),
        cpus(&on)
    );
    let sitters: Vec<&Sitter> = seats.iter().flat_map(|(_, there)| there.clone()).collect();

    let finding = Finding::remark("overlap", what)
        .grave_if(demand_percent > 100.0 || is_choice)
        .tids(sitters.iter().map(|sitter| sitter.tid))
        .on(&on)
        .at_most(youngest_s(&sitters));
    let finding =
        if demand_percent > 0.0 { finding.measured(demand_percent, WANTED) } else { finding };
    let Some(last) = families.last() else { return finding };
    // The last program moves, to CPUs without bound threads.
    let taken: CpuSet = facts.sitters.iter().filter_map(Sitter::seat).collect();
    let free = facts.seats_of(*last).without(&taken);
    let to = facts.promise(*last, on.len(), &free);
    finding.mended_by_all(to.map(|to| move_to(facts, *last, &to)))
}

fn contended_percent(facts: &SeatingFacts, there: &[&Sitter]) -> f64 {
    let busy = those(there, |one| facts.is_demanding(one));
    if families(facts, &busy).len() > 1 { sum(&busy, Sitter::demand_percent) } else { 0.0 }
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
        let made = Made::new(4).with("7/7 on 1: 50+50; 9/9 on 1: 50+50");
        assert_eq!(
            made.told(judge),
            "Wrong several [7, 9] on 1: program (7) and program (9) have bound threads to the same CPU 1; on one of them they need 2.0 CPUs together -> seatmap run --cpus 0 --pid 9"
        );
    }

    #[test]
    fn idle_programs_with_same_cpus_are_reported() {
        let engine = |made: Made, pid: Tid| made.thread(pid, pid, "0").thread(pid, pid + 1, "1");
        assert_eq!(
            engine(engine(Made::new(8), 10), 20).told(judge),
            "Wrong several [10, 20, 11, 21] on 0,1: program (10) and program (20) have bound threads to the same CPUs 0,1 -> seatmap run --cpus 2,3 --pid 20"
        );
        let whole = judge(&engine(engine(Made::new(2), 10), 20).facts());
        assert!(whole.len() == 1 && !whole[0].is_wrong(), "a thread for each CPU: {whole:?}");
    }

    #[test]
    fn related_programs_and_wide_masks_may_overlap() {
        let family = Made::new(4).process(5, 1).process(7, 5).process(9, 5);
        let family = family.with("7/7 on 1: 50+50; 9/9 on 1: 50+50");
        assert_eq!(family.told(judge), "");
        let wide = Made::new(4).with("7/7 on 0-1: 50+50; 9/9 on 0-1: 50+50");
        assert_eq!(wide.told(judge), "");
    }

    #[test]
    fn two_idle_programs_on_one_cpu_are_remark() {
        let made = Made::new(4).with("7/7 on 0; 9/9 on 0");
        assert_eq!(
            made.told(judge),
            "Remark several [7, 9] on 0: program (7) and program (9) have bound threads to the same CPU 0 -> seatmap run --cpus 1 --pid 9"
        );
    }

    #[test]
    fn many_programs_on_one_cpu_are_one_finding() {
        let made = (100..200).fold(Made::new(4), |made, pid| made.busy(pid, pid, "1", 1.0, 90.0));
        assert_eq!(
            made.told(judge),
            "Wrong several [100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199] on 1: program (100), program (101), program (102) and 97 more programs have bound threads to the same CPU 1; on one of them they need 91.0 CPUs together -> seatmap run --cpus 0 --pid 199"
        );
    }
}
