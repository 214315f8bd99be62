//! `isolated`: threads bound to several isolated CPUs, among which the kernel divides nothing.

use super::facts::{Facts, Sitter, count, cpus, listed};
use crate::finding::Finding;
use crate::remedy::Remedy;
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

/// Threads with one mask of several isolated CPUs: each stays where it began, and most begin on the
/// first.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut together: BTreeMap<&CpuSet, Vec<&Sitter>> = BTreeMap::new();
    for sitter in &facts.sitters {
        if sitter.mask.len() < 2 || !sitter.mask.is_subset(&facts.isolated) {
            continue;
        }
        together.entry(&sitter.mask).or_default().push(sitter);
    }
    together.into_iter().filter_map(|(mask, sitters)| on_mask(mask, &sitters)).collect()
}

fn on_mask(mask: &CpuSet, sitters: &[&Sitter]) -> Option<Finding> {
    let first = sitters.first().filter(|_| sitters.len() > 1)?;
    let busy: Vec<&Sitter> = sitters.iter().filter(|sitter| sitter.is_busy()).copied().collect();
    let subjects = if busy.is_empty() { sitters } else { &busy };
    let what = format!(
        "{} may all run on {}, which are isolated: the kernel moves no thread between them ({} \
         there)",
        listed(subjects),
        cpus(mask),
        count(busy.len(), "busy thread")
    );
    let finding =
        Finding::remark("isolated", what).grave_if(busy.len() > 1).of(first.thread.pid).on(mask);
    let finding =
        finding.tids(subjects.iter().map(|sitter| sitter.tid())).at_most(first.thread.age_s);
    let seats: Vec<u32> = mask.iter().collect();
    // More threads than CPUs take turns.
    let bound = subjects
        .iter()
        .zip(seats.iter().copied().cycle())
        .map(|(sitter, cpu)| Remedy::bind(&CpuSet::single(cpu), [sitter.tid()]));
    Some(finding.mended_by_all(bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn busy_threads_on_isolated_cpus_are_found() {
        let made = Made::new(4)
            .isolated("2-3")
            .busy(7, 7, "2-3", 50.0, 50.0)
            .busy(7, 8, "2-3", 50.0, 50.0);
        let found = judge(&made.facts());
        assert!(found.len() == 1 && found[0].is_wrong(), "{found:?}");
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -cp 2 7; taskset -cp 3 8"));
    }

    #[test]
    fn one_thread_or_one_cpu_each_is_healthy() {
        let alone = Made::new(4).isolated("2-3").busy(7, 7, "2-3", 99.0, 0.0);
        assert_eq!(judge(&alone.facts()), []);
        let seated =
            Made::new(4).isolated("2-3").busy(7, 7, "2", 99.0, 0.0).busy(7, 8, "3", 99.0, 0.0);
        assert_eq!(judge(&seated.facts()), []);
        let balanced = Made::new(4).busy(7, 7, "2-3", 99.0, 0.0).busy(7, 8, "2-3", 99.0, 0.0);
        assert_eq!(judge(&balanced.facts()), []);
    }
}
