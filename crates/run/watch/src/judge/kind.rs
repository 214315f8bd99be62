//! `slow-kind`, `kind=...` and `on=...`: the cores that threads use.

use super::facts::{SeatingFacts, Sitter, WANTED, cpus, listed, those, union};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::rule::Rule;
use seatmap_data::machine::CoreKind;
use seatmap_os::{CpuSet, Tid};

/// Reports busy threads bound to efficiency cores while performance cores idle, except low-priority
/// ones.
pub fn slow(facts: &SeatingFacts) -> Vec<Finding> {
    let slow = [CoreKind::Efficiency, CoreKind::LowPower].map(|kind| facts.of_kind(kind));
    let slow = slow[0].with(&slow[1]);
    facts
        .sitters
        .iter()
        .filter(|sitter| {
            sitter.is_bound
                && sitter.is_busy()
                && !sitter.is_as_planned
                && !yields(sitter)
                && sitter.mask.is_subset(&slow)
        })
        .filter_map(|sitter| on_slow(facts, sitter))
        .collect()
}

fn yields(sitter: &Sitter) -> bool {
    // The ways to lower priority, sched(7).
    sitter.nice > 0 || ["batch", "idle"].contains(&sitter.policy.as_str())
}

fn on_slow(facts: &SeatingFacts, sitter: &Sitter) -> Option<Finding> {
    let allowed = facts.allowed_to(sitter);
    let idle = facts.idle(&facts.of_kind(CoreKind::Performance)).within(&allowed);
    if idle.is_empty() {
        return None;
    }
    let what = format!(
        "{} is busy on efficiency cores ({}) while performance cores had little to do ({})",
        sitter.named(),
        cpus(&sitter.mask),
        cpus(&idle)
    );
    let finding = Finding::wrong("slow-kind", what)
        .about(&[sitter])
        .on(&sitter.mask)
        .measured(sitter.demand_percent(), WANTED);
    Some(finding.mended_by_all(facts.bind_to_one(sitter, &idle)))
}

pub fn only(facts: &SeatingFacts, kind: CoreKind) -> Vec<Finding> {
    let rule = Rule::Kind(kind).to_string();
    if facts.topology.pus.iter().all(|pu| pu.kind.is_none()) {
        return vec![Finding::unseen(
            &rule,
            "the kernel does not report kinds of core on this computer",
        )];
    }
    within(facts, &rule, &facts.of_kind(kind))
}

/// Reports threads that may run on other CPUs than these.
pub fn within(facts: &SeatingFacts, rule: &str, cpus: &CpuSet) -> Vec<Finding> {
    facts.of_programs(|process, sitters| outside(facts, rule, cpus, process.pid, sitters))
}

fn outside(
    facts: &SeatingFacts,
    rule: &str,
    meant: &CpuSet,
    pid: Tid,
    sitters: &[&Sitter],
) -> Option<Finding> {
    let elsewhere = those(sitters, |one| !one.mask.is_subset(meant));
    elsewhere.first()?;
    let others = union(&elsewhere).without(meant);
    let what = format!("{} may run elsewhere: {}", listed(&elsewhere), cpus(&others));
    let finding = Finding::wrong(rule, what).about(&elsewhere).on(&others);
    let to = meant.within(&facts.allowed(pid));
    Some(if to.is_empty() {
        finding.advised("the control group of the program allows no such CPU")
    } else {
        finding.mended_by(SeatingRemedy::bind(&to, &elsewhere))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn each_slow_thread_gets_separate_fast_core() {
        let made = Made::new(4).efficient_from(1).with("7/7 on 1: 99+0; 7/8 on 2: 99+0");
        let found = slow(&made.facts());
        let remedies: Vec<Option<&str>> = found.iter().map(|one| one.remedy.as_deref()).collect();
        assert_eq!(remedies, [Some("taskset -cp 0 7"), None], "one fast core, and no pile on it");
    }

    fn hybrid() -> Made {
        Made::new(8).efficient_from(4)
    }

    #[test]
    fn busy_thread_on_slow_core_is_found() {
        assert_eq!(
            hybrid().with("7/7 on 5: 99+0").told(slow),
            "Wrong 7 [7] on 5: thread 7 'main' is busy on efficiency cores (CPU 5) while performance cores had little to do (CPUs 0-3) -> taskset -cp 0 7"
        );
    }

    #[test]
    fn slow_cores_suit_batch_idle_and_unbound_threads() {
        assert_eq!(hybrid().with("7/7 on 5: 99+0").policy("batch").told(slow), "");
        assert_eq!(
            hybrid().with("7/7 on 5: 99+0").taken("0-3").told(slow),
            "",
            "the fast ones are taken"
        );
        assert_eq!(hybrid().with("7/7 on 5").told(slow), "");
        assert_eq!(hybrid().with("7/7 on 3-5: 99+0").told(slow), "");
        assert_eq!(Made::new(8).with("7/7 on 5: 99+0").told(slow), "");
    }

    #[test]
    fn threads_outside_named_cpus_are_found() {
        let made = Made::new(8).with("7/7 on 0-2; 7/8 on 2-4");
        let cpus = CpuSet::of_list("0-3").unwrap();
        assert_eq!(
            made.told(|facts| within(facts, "on=0-3", &cpus)),
            "Wrong 7 [8] on 4: thread 8 'worker' may run elsewhere: CPU 4 -> taskset -cp 0-3 8"
        );
        assert_eq!(
            made.told(|facts| within(facts, "on=0-4", &CpuSet::of_list("0-4").unwrap())),
            ""
        );
    }

    #[test]
    fn kind_rule_applies_to_all_threads() {
        let made = hybrid().with("7/7 on 0-3; 7/8 on 3-4");
        assert_eq!(
            made.told(|facts| only(facts, CoreKind::Performance)),
            "Wrong 7 [8] on 4: thread 8 'worker' may run elsewhere: CPU 4 -> taskset -cp 0-3 8"
        );
        assert_eq!(
            hybrid().with("7/7 on 0-3").told(|facts| only(facts, CoreKind::Performance)),
            ""
        );
        assert!(!only(&Made::new(2).with("7/7 on 0").facts(), CoreKind::Performance)[0].is_wrong());
    }
}
