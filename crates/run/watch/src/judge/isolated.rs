//! `isolated`: threads with several CPUs, some or all isolated. The kernel moves no thread to or
//! from an isolated CPU.

use super::facts::{SeatingFacts, Sitter, by_place, count, cpus, listed, those};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use seatmap_data::words::agreeing;
use seatmap_os::CpuSet;

/// Each stays on the isolated CPU on which it began, and most begin on the first; those on usual
/// CPUs stay among these.
pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let together = by_place(&facts.sitters, |one| {
        let is_shared = one.mask.len() > 1 && one.mask.meets(&facts.isolated);
        is_shared.then(|| one.mask.clone())
    });
    together.into_iter().filter_map(|(mask, sitters)| on_mask(facts, &mask, &sitters)).collect()
}

fn on_mask(facts: &SeatingFacts, mask: &CpuSet, sitters: &[&Sitter]) -> Option<Finding> {
    let first = sitters.first().filter(|_| sitters.len() > 1)?;
    let busy = those(sitters, Sitter::is_busy);
    let isolated = mask.within(&facts.isolated);
    let is_mixed = isolated != *mask;
    if is_mixed && !shut_in(&busy, mask, &isolated) {
        return None;
    }
    let subjects = if busy.is_empty() { sitters } else { &busy };
    let are_isolated = if is_mixed {
        format!(
            "{}, of which {} {} isolated: the kernel moves no thread to an isolated CPU or away \
             from one",
            cpus(mask),
            cpus(&isolated),
            agreeing(isolated.len(), "is", "are")
        )
    } else {
        format!("{}, which are isolated: the kernel moves no thread between them", cpus(mask))
    };
    let what = format!(
        "{} may all run on {are_isolated} ({} there)",
        listed(subjects),
        count(busy.len(), "busy thread")
    );
    let finding = Finding::remark("isolated", what)
        .grave_if(busy.len() > 1)
        .about(subjects)
        .on(mask)
        .of(first.pid)
        .at_most(first.age_s);
    let bound = subjects.iter().zip(mask.iter().cycle()).map(|(sitter, turn)| {
        let own = facts.promise(sitter.tid, 1, mask);
        SeatingRemedy::bind(&own.unwrap_or_else(|| CpuSet::single(turn)), &[sitter])
    });
    Some(finding.mended_by_all(bound))
}

/// Whether busy threads share CPUs although others of the mask are free.
fn shut_in(busy: &[&Sitter], mask: &CpuSet, isolated: &CpuSet) -> bool {
    let places: Vec<u32> = busy.iter().filter_map(|sitter| sitter.cpu).collect();
    let taken: CpuSet = places.iter().copied().filter(|cpu| isolated.contains(*cpu)).collect();
    let kept = places.iter().filter(|cpu| isolated.contains(**cpu)).count();
    let balanced = busy.len() - kept;
    let usual = mask.len() - isolated.len();
    let is_isolated_free = taken.len() < isolated.len();
    let share_usual = balanced > usual && is_isolated_free;
    let share_isolated = kept > taken.len() && (is_isolated_free || balanced < usual);
    share_usual || share_isolated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn busy_threads_on_isolated_cpus_are_found() {
        let made = Made::new(4).isolated("2-3").with("7/7 on 2-3: 50+50; 7/8 on 2-3: 50+50");
        assert_eq!(
            made.told(judge),
            "Wrong 7 [7, 8] on 2,3: thread 7 'main' and thread 8 'worker' may all run on CPUs 2,3, which are isolated: the kernel moves no thread between them (2 busy threads there) -> taskset -cp 2 7; taskset -cp 3 8"
        );
    }

    #[test]
    fn single_thread_or_pinned_threads_are_healthy() {
        let alone = Made::new(4).isolated("2-3").with("7/7 on 2-3: 99+0");
        assert_eq!(alone.told(judge), "");
        let seated = Made::new(4).isolated("2-3").with("7/7 on 2: 99+0; 7/8 on 3: 99+0");
        assert_eq!(seated.told(judge), "");
        let balanced = Made::new(4).with("7/7 on 2-3: 99+0; 7/8 on 2-3: 99+0");
        assert_eq!(balanced.told(judge), "");
    }

    #[test]
    fn sharing_despite_free_isolated_cpu_is_found() {
        let on = |places: &[u32]| {
            let mut made = Made::new(4).isolated("2-3");
            for (tid, cpu) in (7..).zip(places) {
                made = made.busy(7, tid, "1-3", 50.0, 50.0);
                made.seating
                    .threads
                    .iter_mut()
                    .filter(|it| it.tid == tid)
                    .for_each(|it| it.cpu = Some(*cpu));
            }
            judge(&made.facts())
        };
        let found = on(&[1, 1]);
        let what = "may all run on CPUs 1-3, of which CPUs 2,3 are isolated: the kernel moves no \
                    thread to an isolated CPU or away from one (2 busy threads there)";
        assert!(
            found.len() == 1 && found[0].is_wrong() && found[0].what.ends_with(what),
            "{found:?}"
        );
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -cp 1 7; taskset -cp 2 8"));
        assert_eq!(on(&[2, 2]).len(), 1, "CPUs 1 and 3 are free");
        assert_eq!(on(&[1, 2]), []);
        assert_eq!(on(&[1, 1, 2, 3]), [], "more threads than CPUs share them anywhere");
    }
}
