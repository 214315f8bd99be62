//! `moved`: threads that were elsewhere before than their final masks say.
//!
//! Other rules judge the masks of the last look; this rule reports a thread with another mask for
//! part of the time.

use super::Gravity;
use super::facts::{SeatingFacts, Sitter, count, cpus};
use crate::finding::Finding;
use crate::seating::WatchedThread;
use seatmap_data::statistics::words::joined;
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeMap;

/// A library that examines the machine binds itself to each CPU for some milliseconds, and one look
/// may see that.
const LEAST_PERCENT: f64 = 10.0;

pub const MOST: usize = 4;

pub struct OffMaskCpus {
    before: Option<CpuSet>,
    pub found_on: CpuSet,
    pub percent: f64,
    is_traced: bool,
}

impl OffMaskCpus {
    /// `None` if no look found it elsewhere.
    pub fn than(thread: &WatchedThread, seat: &CpuSet) -> Option<Self> {
        let outside = thread.ran_on.iter().filter(|on| !seat.contains(on.cpu));
        let percent: f64 = outside.clone().map(|on| on.percent).sum();
        let found_on: CpuSet =
            outside.filter(|_| percent >= LEAST_PERCENT).map(|on| on.cpu).collect();
        let before =
            thread.mask_before.as_deref().and_then(CpuSet::of_list).filter(|before| before != seat);
        let is_traced = thread.is_traced;
        (before.is_some() || !found_on.is_empty()).then_some(OffMaskCpus {
            before,
            found_on,
            percent,
            is_traced,
        })
    }

    /// `could run on CPUs 0-3 at the first look, and was found on CPU 1 in 40 % of the looks`.
    pub fn described(&self) -> String {
        let of = if self.is_traced { "time" } else { "looks" };
        let found =
            format!("was found on {} in {:.0} % of the {of}", cpus(&self.found_on), self.percent);
        match &self.before {
            Some(before) if self.found_on.is_empty() => {
                format!("could run on {} at the first look", cpus(before))
            }
            Some(before) => format!("could run on {} at the first look, and {found}", cpus(before)),
            None => found,
        }
    }
}

pub fn usual(facts: &SeatingFacts) -> Vec<Finding> {
    masks_changed(facts, Gravity::Remark, "")
}

/// For named rules, which judge the final masks.
pub fn unjudged(facts: &SeatingFacts) -> Vec<Finding> {
    masks_changed(facts, Gravity::Unseen, ", and rules judge the last one")
}

fn masks_changed(facts: &SeatingFacts, gravity: Gravity, effect: &str) -> Vec<Finding> {
    let mut by_process: BTreeMap<Tid, Vec<(&Sitter, OffMaskCpus)>> = BTreeMap::new();
    // `expect` reports threads on their seats.
    for sitter in facts.sitters.iter().filter(|sitter| !sitter.is_as_planned) {
        if let Some(elsewhere) = OffMaskCpus::than(sitter.thread, &sitter.mask) {
            by_process.entry(sitter.pid).or_default().push((sitter, elsewhere));
        }
    }
    let of_process = |moved: &Vec<(&Sitter, OffMaskCpus)>| {
        let what = sentences(moved.iter().map(|(sitter, elsewhere)| {
            let may = cpus(&sitter.mask);
            format!("{} may run on {may}, but {}", sitter.named(), elsewhere.described())
        }));
        let what = format!("{what}: its mask changed while it was watched{effect}");
        let on = moved.iter().flat_map(|(_, elsewhere)| &elsewhere.found_on).collect();
        let sitters: Vec<&Sitter> = moved.iter().map(|(sitter, _)| *sitter).collect();
        Finding { gravity, ..Finding::wrong("moved", what) }.threads(&sitters).on(&on)
    };
    by_process.values().map(of_process).collect()
}

/// The first of these, and the number of other threads.
pub fn sentences(each: impl ExactSizeIterator<Item = String>) -> String {
    let more = each.len().saturating_sub(MOST);
    let first = joined(each.take(MOST), "; ");
    if more > 0 { format!("{first}; and {}", count(more, "more thread")) } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expected::Expected;
    use crate::finding::Gravity;
    use crate::judge::{Criteria, judge, made::Made};
    use crate::seating::RanOn;
    use crate::{Rule, judge::Verdict};
    use seatmap_data::plan::Plan;

    fn made(percent: f64) -> Made {
        let mut made = Made::new(4).with("7/7 on 0: 90+0");
        let on = |cpu, percent| RanOn { cpu, percent };
        made.seating.threads[0].ran_on = vec![on(0, 100.0 - percent), on(1, percent)];
        made
    }

    fn judged(made: &Made, criteria: &Criteria) -> Vec<Finding> {
        judge(&made.seating, &made.topology, criteria)
            .into_iter()
            .filter(|it| it.rule != "isolated")
            .collect()
    }

    fn plan(placement: &[u32]) -> Criteria {
        Criteria {
            expected: Some(Expected::of_plan(&Plan::new("made", placement.to_vec()))),
            ..Criteria::default()
        }
    }

    #[test]
    fn thread_off_seat_during_watch_is_wrong() {
        let found = judged(&made(50.0), &plan(&[0]));
        assert!(found.len() == 1 && found[0].is_wrong() && found[0].rule == "expect", "{found:?}");
        let history = "but was found on CPU 1 in 50 % of the looks";
        assert_eq!(
            found[0].what,
            format!("thread 7 'main' has the seat of task 0, CPU 0, {history}")
        );
        assert_eq!(judged(&made(5.0), &plan(&[0])), [], "a detour of a library");
        let mut changed = made(0.0);
        changed.seating.threads[0].mask_before = Some("0-3".to_owned());
        let found = judged(&changed, &plan(&[0]));
        assert!(!found[0].is_wrong(), "it slept: {found:?}");
        assert!(
            found[0].what.ends_with("CPU 0, but could run on CPUs 0-3 at the first look"),
            "{found:?}"
        );
        let mut shown = plan(&[0]);
        shown.expected.iter_mut().for_each(|expected| expected.is_shown = true);
        let found = judged(&made(50.0), &shown);
        assert!(
            found.len() == 1 && !found[0].is_wrong(),
            "its launcher may have seated it meanwhile: {found:?}"
        );
    }

    #[test]
    fn changed_mask_leaves_rule_unjudged() {
        let criteria = Criteria { rules: vec![Rule::OnePerCpu], ..Criteria::default() };
        let made = made(50.0);
        let found = judged(&made, &criteria);
        assert!(found.len() == 1 && found[0].gravity == Gravity::Unseen, "{found:?}");
        let why = "its mask changed while it was watched, and rules judge the last one";
        assert!(
            found[0].what.ends_with(&format!("on CPU 1 in 50 % of the looks: {why}")),
            "{found:?}"
        );
        assert_eq!(Verdict::of(&made.seating, &found, &[]), Verdict::NotAllSeen);
    }

    #[test]
    fn moved_unbound_programs_get_remark() {
        let found = judged(&made(50.0), &Criteria::default());
        assert!(found.len() == 1 && found[0].gravity == Gravity::Remark, "{found:?}");
        assert_eq!(judged(&Made::new(4).with("7/7 on 0: 90+0"), &Criteria::default()), []);
    }
}
