//! `expect`: threads, compared with the seats of a plan or report.

use super::facts::{SeatingFacts, Sitter, count, cpus, listed, those, union};
use super::moved::{MOST, OffMaskCpus, sentences};
use super::variables;
use crate::expected::{Expected, ExpectedSeat};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use seatmap_data::statistics::words::{agreeing, joined};
use seatmap_os::Tid;
use std::collections::{BTreeMap, HashSet};

const RULE: &str = "expect";

type Pair<'p, 'a> = (&'p Sitter<'a>, &'p ExpectedSeat);

pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let Some(expected) = facts.expected else { return Vec::new() };
    let pairs = facts.seated(expected);
    let mut found = elsewhere(facts, &pairs);
    found.extend(pairs.iter().filter_map(|pair| was_elsewhere(expected, pair)));
    found.extend(pairs.iter().filter_map(|pair| impossible(facts, pair)));
    let mended = "start the job in the order that 'seatmap export' writes";
    let misplaced = expected.misplaced.iter();
    found.extend(misplaced.map(|(pid, what)| Finding::wrong(RULE, what).of(*pid).advised(mended)));
    // A launcher publishes only seated threads.
    if expected.is_shown {
        return found;
    }
    found.extend(without_seat(facts, expected, &pairs));
    found.extend(without_thread(expected, &pairs));
    found
}

fn elsewhere(facts: &SeatingFacts, pairs: &[Pair]) -> Vec<Finding> {
    let mut by_process: BTreeMap<Tid, Vec<Pair>> = BTreeMap::new();
    for (sitter, seat) in pairs.iter().filter(|(sitter, seat)| sitter.mask != seat.cpus) {
        by_process.entry(sitter.pid).or_default().push((sitter, seat));
    }
    by_process.values().map(|wrong| of_process(facts, wrong, pairs)).collect()
}

/// A remark if the seats are from a running launcher, which may have given them meanwhile.
fn was_elsewhere(expected: &Expected, (sitter, seat): &Pair) -> Option<Finding> {
    let elsewhere =
        OffMaskCpus::than(sitter.thread, &seat.cpus).filter(|_| sitter.mask == seat.cpus)?;
    let what = format!(
        "{} has the seat of {}, {}, but {}",
        sitter.named(),
        seat.label,
        cpus(&seat.cpus),
        elsewhere.described()
    );
    // A thread that slept under another mask harmed no other.
    let has_run = !elsewhere.found_on.is_empty();
    let finding = Finding::remark(RULE, what)
        .grave_if(has_run && !expected.is_shown)
        .threads(&[sitter])
        .on(&elsewhere.found_on);
    Some(finding.measured(elsewhere.percent, "percent of the looks"))
}

fn of_process(facts: &SeatingFacts, wrong: &[Pair], pairs: &[Pair]) -> Finding {
    let described = wrong.iter().map(|(sitter, seat)| {
        let may = cpus(&sitter.mask);
        let ExpectedSeat { label, cpus, .. } = seat;
        format!("{} may run on {may}, but the seat of {label} is {}", sitter.named(), cpus.named())
    });
    let sitters: Vec<&Sitter> = wrong.iter().map(|(sitter, _)| *sitter).collect();
    let share = 100.0 * wrong.len() as f64 / pairs.len() as f64;
    let age_s = sitters.iter().map(|sitter| sitter.age_s).fold(f64::INFINITY, f64::min);
    Finding::wrong(RULE, sentences(described))
        .threads(&sitters)
        .on(&union(&sitters))
        .at_most(age_s)
        .measured(share, "percent of the threads")
        .mended_by_all(remedies(facts, wrong))
}

/// Only if the control group allows the seat; the others are [`impossible`].
fn remedies<'p>(
    facts: &'p SeatingFacts,
    wrong: &'p [Pair],
) -> impl Iterator<Item = SeatingRemedy> + 'p {
    wrong
        .iter()
        .filter(|(sitter, seat)| seat.cpus.is_subset(&facts.allowed_to(sitter)))
        .map(|(sitter, seat)| SeatingRemedy::bind(&seat.cpus, &[sitter]))
}

fn impossible(facts: &SeatingFacts, (sitter, seat): &Pair) -> Option<Finding> {
    let outside = seat.cpus.without(&facts.allowed_to(sitter));
    // An offline CPU is not missing because of a control group.
    let runs = outside.is_subset(&facts.online);
    let group = facts.group_of(sitter).filter(|group| runs && group.cpus.is_some());
    let why = match group {
        Some(group) => format!("outside its control group {}", group.path),
        None => "offline".to_owned(),
    };
    let what = format!(
        "the seat of {} is {}: {} {} {why}",
        seat.label,
        cpus(&seat.cpus),
        cpus(&outside),
        agreeing(outside.len(), "is", "are")
    );
    let finding = Finding::wrong("partial", what).threads(&[sitter]).on(&outside);
    let mended = match group {
        Some(group) => variables::widened_for(facts, finding, group, &seat.cpus, sitter),
        None => finding,
    };
    (!outside.is_empty()).then_some(mended)
}

/// Wrong if they are busy on the seats of others.
fn without_seat(facts: &SeatingFacts, expected: &Expected, pairs: &[Pair]) -> Option<Finding> {
    let seated: HashSet<Tid> = pairs.iter().map(|(sitter, _)| sitter.tid).collect();
    let extra: Vec<&Sitter> = facts
        .sitters
        .iter()
        .filter(|sitter| !seated.contains(&sitter.tid) && expected.concerns(sitter.pid))
        .collect();
    let whole = expected.whole();
    let busy = those(&extra, |one| one.is_busy() && one.mask.meets(&whole));
    let subjects = if busy.is_empty() { &extra } else { &busy };
    let first = subjects.first()?;
    let how = if busy.is_empty() { "" } else { ", but may run on the seats of others" };
    let has = agreeing(subjects.len(), "has", "have");
    let what = format!("{} {has} no seat in the file{how}", listed(subjects));
    let finding =
        Finding::remark(RULE, what).grave_if(!busy.is_empty()).about(subjects).of(first.pid);
    let rest = facts.usual.without(&whole);
    Some(if busy.is_empty() || rest.is_empty() {
        finding
    } else {
        finding.mended_by(SeatingRemedy::bind(&rest, &busy))
    })
}

fn without_thread(expected: &Expected, pairs: &[Pair]) -> Option<Finding> {
    // By address, because several tasks may have the same CPUs and name.
    let taken: HashSet<*const ExpectedSeat> =
        pairs.iter().map(|(_, seat)| std::ptr::from_ref(*seat)).collect();
    let empty: Vec<&ExpectedSeat> =
        expected.seats.iter().filter(|seat| !taken.contains(&std::ptr::from_ref(*seat))).collect();
    let named = joined(empty.iter().take(MOST).map(|seat| &seat.label), ", ");
    let more = if empty.len() > MOST {
        format!(" and {} more", empty.len() - MOST)
    } else {
        String::new()
    };
    let seats = empty.iter().flat_map(|seat| &seat.cpus).collect();
    let (has, are) = if empty.len() == 1 { ("has", "is") } else { ("have", "are") };
    let what = format!(
        "{named}{more} {has} no thread: {} of {} {are} empty",
        empty.len(),
        count(expected.seats.len(), "seat")
    );
    let finding = Finding::remark(RULE, what).grave_if(expected.needs_all).on(&seats);
    (!empty.is_empty()).then_some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Criteria, judge, made::Made};
    use crate::{RankPlace, RankSeats};
    use seatmap_data::plan::Plan;

    fn found(made: &Made, expected: Expected) -> Vec<Finding> {
        let criteria = Criteria {
            expected: Some(expected),
            rules: vec![crate::Rule::NoIrq],
            ..Criteria::default()
        };
        judge(&made.seating, &made.topology, &criteria)
    }

    fn plan(placement: &[u32], names: &[&str]) -> Expected {
        let mut plan = Plan::new("made", placement.to_vec());
        plan.names = names.iter().map(|name| (*name).to_owned()).collect();
        Expected::of_plan(&plan)
    }

    #[test]
    fn ranks_are_compared_with_node_and_cpus() {
        let made = Made::new(4).with("7/7 on 2; 7/8 on 2; 9/9 on 0-3; 11/11 on 1");
        let here = |cpu| RankPlace::Here(seatmap_os::CpuSet::single(cpu));
        let elsewhere = || RankPlace::Elsewhere("n9".to_owned());
        let seats =
            vec![here(1), elsewhere(), elsewhere(), elsewhere(), here(2), here(3), elsewhere()];
        let rank_of = |pid| {
            [(7, 4), (9, 5), (11, 6)]
                .into_iter()
                .find_map(|(known, rank)| (known == pid).then_some(rank))
        };
        let found = found(&made, RankSeats { seats, rank_of }.expected(&made.seating));
        let subjects: Vec<&str> = found
            .iter()
            .filter(|finding| finding.is_wrong())
            .map(|finding| finding.what.as_str())
            .collect();
        let wanted = [
            "rank 0 has no thread: 1 of 4 seats is empty",
            "thread 9 'main' may run on CPUs 0-3, but the seat of rank 5 is CPU 3",
            "rank 6 runs here, but should run on n9",
        ];
        assert_eq!(subjects, wanted);
    }

    #[test]
    fn threads_on_planned_seats_are_healthy() {
        let made = Made::new(4).with("7/7 on 2; 7/8 on 0");
        assert_eq!(found(&made, plan(&[2, 0], &[])), []);
    }

    #[test]
    fn moved_thread_is_reported_with_remedy() {
        let made = Made::new(4).with("7/7 on 2; 7/8 on 0-3");
        let found = found(&made, plan(&[2, 0], &["a", "b"]));
        let expected = "thread 8 'worker' may run on CPUs 0-3, but the seat of task 1 'b' is CPU 0";
        assert_eq!((found.len(), found[0].what.as_str()), (1, expected));
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -cp 0 8"));
        assert!(found[0].is_wrong() && found[0].tids == [8]);
    }

    #[test]
    fn threads_match_tasks_by_name() {
        let made = Made::new(4).with("7/7 on 2").called("right").with("7/8 on 0").called("left");
        assert_eq!(found(&made, plan(&[0, 2], &["left", "right"])), []);
        let wrong = Made::new(4).with("7/7 on 2").called("right").with("7/8 on 1").called("left");
        assert_eq!(found(&wrong, plan(&[0, 2], &["left", "right"])).len(), 1);
    }

    #[test]
    fn extra_threads_are_remark_unless_busy() {
        let idle = Made::new(4).with("7/7 on 2; 7/8 on 0; 7/9 on 0-3");
        assert_eq!(found(&idle, plan(&[2, 0], &[]))[0].gravity, crate::Gravity::Remark);
        let busy = Made::new(4).with("7/7 on 2; 7/8 on 0; 7/9 on 0-3: 50+0");
        let found = found(&busy, plan(&[2, 0], &[]));
        assert!(found[0].is_wrong() && found[0].what.contains("seats of others"), "{found:?}");
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -cp 1,3 9"));
    }

    #[test]
    fn missing_thread_is_wrong_only_for_plan() {
        let made = Made::new(4).with("7/7 on 2");
        let found_in_plan = found(&made, plan(&[2, 0], &[]));
        assert_eq!(found_in_plan[0].what, "task 1 has no thread: 1 of 2 seats is empty");
        assert!(found_in_plan[0].is_wrong());
        let text = r#"{"format": "seatmap-seating/1", "threads": [{"pid": 7, "tid": 7, "cpus": [2]},
            {"pid": 7, "tid": 12, "cpus": [0]}]}"#;
        let found = found(&made, Expected::of_seating(text).unwrap());
        assert_eq!((found.len(), found[0].gravity), (1, crate::Gravity::Remark));
    }

    #[test]
    fn report_matches_threads_by_id() {
        let made = Made::new(4).with("7/8 on 2; 7/7 on 0");
        let text = |tid: Tid| {
            format!(
                r#"{{"format": "seatmap-seating/1", "threads": [{{"pid": 7, "tid": {tid}, "cpus": [2]}}]}}"#
            )
        };
        let wrong = |text: &str| {
            let found = found(&made, Expected::of_seating(text).unwrap());
            found.iter().filter(|finding| finding.is_wrong()).count()
        };
        assert_eq!((wrong(&text(8)), wrong(&text(7))), (0, 1));
    }

    #[test]
    fn report_concerns_only_its_program() {
        let made = Made::new(4).with("7/7 on 2; 9/9 on 2: 50+0");
        let text = r#"{"format": "seatmap-seating/1", "threads": [
            {"pid": 7, "tid": 7, "cpus": [2]}]}"#;
        assert_eq!(found(&made, Expected::of_seating(text).unwrap()), []);
        let gone = text.replace('7', "70");
        let found = found(&made, Expected::of_seating(&gone).unwrap());
        assert!(found.iter().all(|finding| finding.remedy.is_none()), "{found:?}");
    }

    #[test]
    fn seat_outside_control_group_is_reported() {
        let made = Made::new(4).with("7/7 on 0").group(Some("0-1"), None, 0);
        let found = found(&made, plan(&[3], &[]));
        assert_eq!(found.iter().filter(|finding| finding.rule == "partial").count(), 1);
        assert!(
            found.iter().any(|finding| finding.what.contains("outside its control group")),
            "{found:?}"
        );
    }
}
