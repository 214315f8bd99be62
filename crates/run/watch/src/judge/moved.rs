//! `moved`: threads that were elsewhere before than their final masks say.
//!
//! Other rules judge the last masks; this rule reports a thread with another mask for part of the
//! time.

use super::Gravity;
use super::facts::{SeatingFacts, Sitter, count, cpus};
use crate::finding::Finding;
use crate::seating::WatchedThread;
use seatmap_data::grouped::by_key;
use seatmap_data::words::joined;
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeMap;

/// A library that examines the machine binds itself to each CPU for milliseconds, and one look may
/// see that.
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
    let unplanned = facts.sitters.iter().filter(|sitter| !sitter.is_as_planned);
    let by_process: BTreeMap<Tid, Vec<(&Sitter, OffMaskCpus)>> =
        by_key(unplanned.filter_map(|sitter| {
            let elsewhere = OffMaskCpus::than(sitter.thread, &sitter.mask)?;
            Some((sitter.pid, (sitter, elsewhere)))
        }));
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
    use crate::Rule;
    use crate::expected::Expected;
    use crate::judge::made::{Made, lines};
    use crate::judge::{Criteria, Verdict, judge};
    use crate::seating::RanOn;
    use seatmap_data::plan::Plan;

    fn made(percent: f64) -> Made {
        let mut made = Made::new(4).with("7/7 on 0: 90+0");
        let on = |cpu, percent| RanOn { cpu, percent };
        made.seating.threads[0].ran_on = vec![on(0, 100.0 - percent), on(1, percent)];
        made
    }

    fn told(made: &Made, criteria: &Criteria) -> String {
        let mut found = judge(&made.seating, &made.topology, criteria);
        found.retain(|it| it.rule != "isolated");
        lines(found)
    }

    #[test]
    fn thread_off_seat_during_watch_is_wrong() {
        let expected = Expected::of_plan(&Plan::new("made", vec![0]));
        let plan = Criteria { expected: Some(expected), ..Criteria::default() };
        assert_eq!(told(&made(5.0), &plan), "", "a detour of a library");
        let mut slept = made(0.0);
        slept.seating.threads[0].mask_before = Some("0-3".to_owned());
        // Its launcher may have seated it meanwhile.
        let mut shown = plan.clone();
        shown.expected.iter_mut().for_each(|expected| expected.is_shown = true);
        let told = [told(&made(50.0), &plan), told(&slept, &plan), told(&made(50.0), &shown)];
        assert_eq!(
            told,
            [
                "Wrong 7 [7] on 1: thread 7 'main' has the seat of task 0, CPU 0, but was found on CPU 1 in 50 % of the looks",
                "Remark 7 [7] on : thread 7 'main' has the seat of task 0, CPU 0, but could run on CPUs 0-3 at the first look",
                "Remark 7 [7] on 1: thread 7 'main' has the seat of task 0, CPU 0, but was found on CPU 1 in 50 % of the looks"
            ]
        );
    }

    #[test]
    fn changed_mask_leaves_rule_unjudged() {
        let criteria = Criteria { rules: vec![Rule::OnePerCpu], ..Criteria::default() };
        let made = made(50.0);
        assert_eq!(
            told(&made, &criteria),
            "Unseen 7 [7] on 1: thread 7 'main' may run on CPU 0, but was found on CPU 1 in 50 % of the looks: its mask changed while it was watched, and rules judge the last one"
        );
        let found = judge(&made.seating, &made.topology, &criteria);
        assert_eq!(Verdict::of(&made.seating, &found, &[]), Verdict::NotAllSeen);
    }

    #[test]
    fn moved_unbound_programs_get_remark() {
        let still = Made::new(4).with("7/7 on 0: 90+0");
        let told = [made(50.0), still].map(|made| told(&made, &Criteria::default()));
        assert_eq!(
            told,
            [
                "Remark 7 [7] on 1: thread 7 'main' may run on CPU 0, but was found on CPU 1 in 50 % of the looks: its mask changed while it was watched",
                ""
            ]
        );
    }
}
