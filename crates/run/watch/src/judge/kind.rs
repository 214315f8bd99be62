//! `slow-kind`, `kind=...` and `on=...`: the cores that threads use.

use super::facts::{SeatingFacts, Sitter, WANTED, cpus, listed, union};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::rule::Rule;
use seatmap_data::machine::CoreKind;
use seatmap_os::CpuSet;

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
    sitter.thread.nice > 0 || ["batch", "idle"].contains(&sitter.thread.policy.as_str())
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
        .of(sitter.thread.pid)
        .tids([sitter.tid()])
        .on(&sitter.mask);
    let finding = finding.at_most(sitter.thread.age_s).measured(sitter.demand_percent(), WANTED);
    let to = facts.promise(sitter.tid(), 1, &idle);
    Some(finding.mended_by_all(to.map(|to| SeatingRemedy::bind(&to, [sitter.tid()]))))
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
    facts
        .programs()
        .filter_map(|(process, sitters)| outside(facts, rule, cpus, process, sitters))
        .collect()
}

fn outside(
    facts: &SeatingFacts,
    rule: &str,
    meant: &CpuSet,
    process: &crate::Process,
    sitters: Vec<&Sitter>,
) -> Option<Finding> {
    let elsewhere: Vec<&Sitter> =
        sitters.into_iter().filter(|sitter| !sitter.mask.is_subset(meant)).collect();
    let first = elsewhere.first()?;
    let others = union(&elsewhere).without(meant);
    let what = format!("{} may run elsewhere: {}", listed(&elsewhere), cpus(&others));
    let finding = Finding::wrong(rule, what)
        .of(process.pid)
        .tids(elsewhere.iter().map(|sitter| sitter.tid()));
    let to = meant.within(&facts.allowed(process.pid));
    let finding = finding.on(&others).at_most(first.thread.age_s);
    Some(if to.is_empty() {
        finding.advised("the control group of the program allows no such CPU")
    } else {
        finding.mended_by(SeatingRemedy::bind(&to, elsewhere.iter().map(|sitter| sitter.tid())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn each_slow_thread_gets_separate_fast_core() {
        let made =
            Made::new(4).efficient_from(1).busy(7, 7, "1", 99.0, 0.0).busy(7, 8, "2", 99.0, 0.0);
        let found = slow(&made.facts());
        let remedies: Vec<Option<&str>> = found.iter().map(|one| one.remedy.as_deref()).collect();
        assert_eq!(remedies, [Some("taskset -cp 0 7"), None], "one fast core, and no pile on it");
    }

    fn hybrid() -> Made {
        Made::new(8).efficient_from(4)
    }

    #[test]
    fn busy_thread_on_slow_core_is_found() {
        let found = slow(&hybrid().busy(7, 7, "5", 99.0, 0.0).facts());
        assert!(found.len() == 1 && found[0].is_wrong(), "{found:?}");
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -cp 0 7"));
    }

    #[test]
    fn slow_cores_suit_batch_idle_and_unbound_threads() {
        assert_eq!(slow(&hybrid().busy(7, 7, "5", 99.0, 0.0).policy("batch").facts()), []);
        assert_eq!(
            slow(&hybrid().busy(7, 7, "5", 99.0, 0.0).taken("0-3").facts()),
            [],
            "the fast ones are taken"
        );
        assert_eq!(slow(&hybrid().thread(7, 7, "5").facts()), []);
        assert_eq!(slow(&hybrid().busy(7, 7, "3-5", 99.0, 0.0).facts()), []);
        assert_eq!(slow(&Made::new(8).busy(7, 7, "5", 99.0, 0.0).facts()), []);
    }

    #[test]
    fn threads_outside_named_cpus_are_found() {
        let made = Made::new(8).thread(7, 7, "0-2").thread(7, 8, "2-4");
        let cpus = CpuSet::of_list("0-3").unwrap();
        let found = within(&made.facts(), "on=0-3", &cpus);
        assert!(found.len() == 1 && found[0].tids == [8] && found[0].cpus == "4", "{found:?}");
        assert_eq!(
            (found[0].rule.as_str(), found[0].remedy.as_deref()),
            ("on=0-3", Some("taskset -cp 0-3 8"))
        );
        assert_eq!(within(&made.facts(), "on=0-4", &CpuSet::of_list("0-4").unwrap()), []);
    }

    #[test]
    fn kind_rule_applies_to_all_threads() {
        let made = hybrid().thread(7, 7, "0-3").thread(7, 8, "3-4");
        let found = only(&made.facts(), CoreKind::Performance);
        assert!(found.len() == 1 && found[0].tids == [8] && found[0].cpus == "4", "{found:?}");
        assert_eq!(only(&hybrid().thread(7, 7, "0-3").facts(), CoreKind::Performance), []);
        assert!(
            !only(&Made::new(2).thread(7, 7, "0").facts(), CoreKind::Performance)[0].is_wrong()
        );
    }
}
