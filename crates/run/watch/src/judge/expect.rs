//! `expect`: threads, compared with the seats of a plan or report.

use super::facts::{SeatingFacts, Sitter, count, cpus, listed, those, union, youngest_s};
use super::moved::{MOST, OffMaskCpus, sentences};
use super::variables;
use crate::expected::{Expected, ExpectedSeat};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use seatmap_data::grouped::by_key;
use seatmap_data::words::{agreeing, joined};
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
    let wrong = pairs.iter().filter(|(sitter, seat)| sitter.mask != seat.cpus);
    let by_process: BTreeMap<Tid, Vec<Pair>> = by_key(wrong.map(|pair| (pair.0.pid, *pair)));
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

    Finding::wrong(RULE, sentences(described))
        .threads(&sitters)
        .on(&union(&sitters))
        .at_most(youngest_s(&sitters))
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
    use crate::judge::made::{Made, lines};
    use crate::judge::{Criteria, judge};
    use crate::{RankPlace, RankSeats};
    use seatmap_data::plan::Plan;

    fn told(made: &Made, expected: Expected) -> String {
        let criteria = Criteria {
            expected: Some(expected),
            rules: vec![crate::Rule::NoIrq],
            ..Criteria::default()
        };
        lines(judge(&made.seating, &made.topology, &criteria))
    }

    fn planned(made: &Made, placement: &[u32], names: &[&str]) -> String {
        let mut plan = Plan::new("made", placement.to_vec());
        plan.names = names.iter().map(|name| (*name).to_owned()).collect();
        told(made, Expected::of_plan(&plan))
    }

    fn reported(made: &Made, threads: &str) -> String {
        let text = format!(r#"{{"format": "seatmap-seating/1", "threads": [{threads}]}}"#);
        told(made, Expected::of_seating(&text).unwrap())
    }

    #[test]
    fn ranks_are_compared_with_node_and_cpus() {
        let made = Made::new(4).with("7/7 on 2; 7/8 on 2; 9/9 on 0-3; 11/11 on 1");
        let here = |cpu| RankPlace::Here(seatmap_os::CpuSet::single(cpu));
        let elsewhere = || RankPlace::Elsewhere("n9".to_owned());
        let seats =
            vec![here(1), elsewhere(), elsewhere(), elsewhere(), here(2), here(3), elsewhere()];
        let rank_of = |pid| [7, 9, 11].iter().zip(4..).find(|(own, _)| **own == pid).map(|it| it.1);
        assert_eq!(
            told(&made, RankSeats { seats, rank_of }.expected(&made.seating)),
            "Wrong several [] on 1: rank 0 has no thread: 1 of 4 seats is empty\nWrong 9 [9] on 0-3: thread 9 'main' may run on CPUs 0-3, but the seat of rank 5 is CPU 3 -> taskset -cp 3 9\nWrong 11 [] on : rank 6 runs here, but should run on n9 -> start the job in the order that 'seatmap export' writes\nRemark 11 [11] on : thread 11 'main' has no seat in the file"
        );
    }

    #[test]
    fn moved_thread_is_reported_with_remedy() {
        let made = |cpus: &str| Made::new(4).with(&format!("7/7 on 2; 7/8 on {cpus}"));
        assert_eq!(planned(&made("0"), &[2, 0], &[]), "");
        assert_eq!(
            planned(&made("0-3"), &[2, 0], &["a", "b"]),
            "Wrong 7 [8] on 0-3: thread 8 'worker' may run on CPUs 0-3, but the seat of task 1 'b' is CPU 0 -> taskset -cp 0 8"
        );
    }

    #[test]
    fn threads_match_tasks_by_name() {
        let made = |left| Made::new(4).with("7/7 on 2").called("right").with(left).called("left");
        assert_eq!(planned(&made("7/8 on 0"), &[0, 2], &["left", "right"]), "");
        assert_eq!(
            planned(&made("7/8 on 1"), &[0, 2], &["left", "right"]),
            "Wrong 7 [7, 8] on 1,2: thread 7 'right' may run on CPU 2, but the seat of task 0 'left' is CPU 0; thread 8 'left' may run on CPU 1, but the seat of task 1 'right' is CPU 2 -> taskset -cp 0 7; taskset -cp 2 8"
        );
    }

    #[test]
    fn extra_threads_are_remark_unless_busy() {
        let made = Made::new(4).with("7/7 on 2; 7/8 on 0");
        let told = ["7/9 on 0-3", "7/9 on 0-3: 50+0"]
            .map(|extra| planned(&made.clone().with(extra), &[2, 0], &[]));
        assert_eq!(
            told,
            [
                "Remark 7 [9] on : thread 9 'worker' has no seat in the file",
                "Wrong 7 [9] on : thread 9 'worker' has no seat in the file, but may run on the seats of others -> taskset -cp 1,3 9"
            ]
        );
    }

    #[test]
    fn missing_thread_is_wrong_only_for_plan() {
        let made = Made::new(4).with("7/7 on 2");
        let threads = r#"{"pid": 7, "tid": 7, "cpus": [2]}, {"pid": 7, "tid": 12, "cpus": [0]}"#;
        let told = [planned(&made, &[2, 0], &[]), reported(&made, threads)];
        assert_eq!(
            told,
            [
                "Wrong several [] on 0: task 1 has no thread: 1 of 2 seats is empty",
                "Remark several [] on 0: thread 12 has no thread: 1 of 2 seats is empty"
            ]
        );
    }

    #[test]
    fn report_matches_threads_by_id() {
        let made = Made::new(4).with("7/8 on 2; 7/7 on 0");
        let told = [8, 7]
            .map(|tid| reported(&made, &format!(r#"{{"pid": 7, "tid": {tid}, "cpus": [2]}}"#)));
        assert_eq!(
            told,
            [
                "Remark 7 [7] on : thread 7 'main' has no seat in the file",
                "Wrong 7 [7] on 0: thread 7 'main' may run on CPU 0, but the seat of thread 7 is CPU 2 -> taskset -cp 2 7\nRemark 7 [8] on : thread 8 'worker' has no seat in the file"
            ]
        );
    }

    #[test]
    fn report_concerns_only_its_program() {
        let made = Made::new(4).with("7/7 on 2; 9/9 on 2: 50+0");
        let thread = r#"{"pid": 7, "tid": 7, "cpus": [2]}"#;
        let told = [thread, &thread.replace('7', "70")].map(|threads| reported(&made, threads));
        assert_eq!(
            told,
            ["", "Remark several [] on 2: thread 70 has no thread: 1 of 1 seat is empty"]
        );
    }

    #[test]
    fn seat_outside_control_group_is_reported() {
        let made = Made::new(4).with("7/7 on 0").group(Some("0-1"), None, 0);
        assert_eq!(
            planned(&made, &[3], &[]),
            "Wrong 7 [7] on 0: thread 7 'main' may run on CPU 0, but the seat of task 0 is CPU 3\nWrong 7 [7] on 3: the seat of task 0 is CPU 3: CPU 3 is outside its control group /box -> echo 0,1,3 > /sys/fs/cgroup/box/cpuset.cpus; taskset -cp 3 7"
        );
    }
}
