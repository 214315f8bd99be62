//! `overlap`: two programs with seats on the same CPUs.

use super::facts::{Facts, Sitter, cpus};
use crate::finding::Finding;
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeMap;

/// CPUs to which threads of two programs are bound, each thread to one CPU. Processes with a common ancestor among the
/// chosen ones are one program.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut shared: BTreeMap<(Tid, Tid), CpuSet> = BTreeMap::new();
    for (cpu, families) in families(facts) {
        for (at, first) in families.iter().enumerate() {
            for second in &families[at + 1..] {
                shared.entry((*first, *second)).or_default().insert(cpu);
            }
        }
    }
    shared.into_iter().filter_map(|((first, second), on)| of_two(facts, first, second, &on)).collect()
}

/// The programs that have a seat on each CPU, by the number of their first process.
fn families(facts: &Facts) -> BTreeMap<u32, Vec<Tid>> {
    let mut of: BTreeMap<u32, Vec<Tid>> = BTreeMap::new();
    for (sitter, cpu) in facts.sitters.iter().filter_map(|sitter| Some((sitter, sitter.seat()?))) {
        if sitter.is_bound {
            of.entry(cpu).or_default().push(facts.family(sitter.thread.pid));
        }
    }
    of.values_mut().for_each(|families| {
        families.sort_unstable();
        families.dedup();
    });
    of
}

fn of_two(facts: &Facts, first: Tid, second: Tid, on: &CpuSet) -> Option<Finding> {
    let there = |family: Tid| {
        let sits = |sitter: &&Sitter| {
            sitter.seat().is_some_and(|cpu| on.contains(cpu)) && facts.family(sitter.thread.pid) == family
        };
        facts.sitters.iter().filter(sits).collect::<Vec<_>>()
    };
    let sitters = [there(first), there(second)];
    let wanted_percent = on.iter().map(|cpu| contended_percent(&sitters, cpu)).fold(0.0, f64::max);
    // One thread for each CPU of the computer is what many services have by default; a part of it is a choice.
    let is_choice = on.len() > 1 && !facts.usual.is_subset(on);
    let [a, b] = [first, second].map(|pid| facts.process(pid).map_or_else(|| pid.to_string(), super::named_process));
    let effect = match wanted_percent > 100.0 {
        true => format!("; on one of them they want {:.1} CPUs together", wanted_percent / 100.0),
        false => String::new(),
    };
    let what = format!("{a} and {b} have bound threads to the same {}{effect}", cpus(on));
    let tids = sitters.iter().flatten().map(|sitter| sitter.tid());
    let age_s = sitters.iter().flatten().map(|sitter| sitter.thread.age_s).fold(f64::INFINITY, f64::min);
    let finding = Finding::remark("overlap", what).grave_if(wanted_percent > 100.0 || is_choice).tids(tids).on(on);
    let finding = finding.since(age_s).measured(wanted_percent, "percent of one CPU");
    let taken: CpuSet = facts.sitters.iter().filter_map(Sitter::seat).collect();
    let free = facts.allowed(second).within(&facts.usual).without(&taken);
    Some(match free.len() >= on.len() {
        true => finding.mended_by(move_to(facts, second, on.len(), &free)),
        false => finding,
    })
}

/// The CPU time that two programs want on a CPU where both have a busy thread.
fn contended_percent(sitters: &[Vec<&Sitter>; 2], cpu: u32) -> f64 {
    let busy = |side: &Vec<&Sitter>| -> f64 {
        side.iter().filter(|one| one.seat() == Some(cpu) && one.is_busy()).map(|one| one.wanted_percent()).sum()
    };
    let [first, second] = [busy(&sitters[0]), busy(&sitters[1])];
    if first > 0.0 && second > 0.0 { first + second } else { 0.0 }
}

/// The command that seats the threads of a program on CPUs that nobody has.
fn move_to(facts: &Facts, family: Tid, count: usize, free: &CpuSet) -> String {
    let to: CpuSet = free.iter().take(count).collect();
    let pids = facts.seating.processes.iter().map(|process| process.pid).filter(|pid| facts.family(*pid) == family);
    let pids: Vec<String> = pids.map(|pid| format!("--pid {pid}")).collect();
    format!("seatmap run --cpus {to} {}", pids.join(" "))
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
            found[0].what.contains("program (7) and program (9)") && found[0].what.contains("2.0 CPUs"),
            "{found:?}"
        );
        assert_eq!(found[0].remedy.as_deref(), Some("seatmap run --cpus 0 --pid 9"));
    }

    #[test]
    fn two_programs_with_the_same_part_of_the_computer_are_found_before_they_work() {
        let engine = |made: Made, pid: Tid| made.thread(pid, pid, "0").thread(pid, pid + 1, "1");
        let found = judge(&engine(engine(Made::new(8), 10), 20).facts());
        assert!(found.len() == 1 && found[0].is_wrong() && found[0].cpus == "0,1", "{found:?}");
        let whole = judge(&engine(engine(Made::new(2), 10), 20).facts());
        assert!(whole.len() == 1 && !whole[0].is_wrong(), "a thread for each CPU: {whole:?}");
    }

    #[test]
    fn one_program_may_share_and_wide_masks_may_overlap() {
        let family = Made::new(4).process(5, 1).process(7, 5).process(9, 5);
        let family = family.busy(7, 7, "1", 50.0, 50.0).busy(9, 9, "1", 50.0, 50.0);
        assert_eq!(judge(&family.facts()), []);
        let wide = Made::new(4).busy(7, 7, "0-1", 50.0, 50.0).busy(9, 9, "0-1", 50.0, 50.0);
        assert_eq!(judge(&wide.facts()), []);
    }

    #[test]
    fn two_housekeepers_on_one_cpu_are_a_remark() {
        let made = Made::new(4).thread(7, 7, "0").thread(9, 9, "0");
        let found = judge(&made.facts());
        assert!(found.len() == 1 && !found[0].is_wrong(), "{found:?}");
    }
}
