//! The allocator, played through.

use super::*;
use crate::rule::Who;
use proptest::prelude::*;
use seatmap_data::words::joined;
use seatmap_os::CpuList;

const MAIN: Tid = 100;

fn seats(cpus: &[u32], beyond: Beyond) -> SeatList {
    SeatList::of_cpus(&CpuList(cpus.to_vec()), beyond)
}

fn rule(name: &str, tasks: &[usize], seats: &SeatList) -> SeatRule {
    let seats = tasks.iter().filter_map(|task| seats.of(*task)).collect();
    SeatRule { who: Who::Named(name.to_owned()), seats }
}

fn room(seats: SeatList, rules: &[(&str, &[usize])], skip: usize) -> SeatAllocator {
    let rules = rules.iter().map(|(name, tasks)| rule(name, tasks, &seats)).collect();
    SeatAllocator::new(seats, rules, skip)
}

fn by_list(cpus: &[u32]) -> SeatAllocator {
    room(seats(cpus, Beyond::Cycle), &[], 0)
}

fn by_plan(cpus: &[u32], rules: &[(&str, &[usize])]) -> SeatAllocator {
    room(seats(cpus, Beyond::Leave), rules, 0)
}

/// Each thread with the CPU of its seat, `7:3`, or `7:-` without one.
fn told<'a>(steps: impl IntoIterator<Item = &'a SeatAssignment>) -> String {
    joined(steps.into_iter().map(|step| format!("{}:{}", step.tid, cpu(step))), " ")
}

fn cpu(step: &SeatAssignment) -> String {
    let only = step.seat.as_ref().and_then(|seat| seat.cpus.only());
    only.map_or_else(|| "-".to_owned(), |cpu| cpu.to_string())
}

/// The CPUs of new threads.
fn cpus(seating: &mut SeatAllocator, threads: std::ops::Range<Tid>) -> String {
    let steps = threads.flat_map(|tid| seating.thread(tid, MAIN));
    joined(steps.map(|step| cpu(&step)), " ")
}

/// The CPUs of existing threads with these names.
fn found(seating: &mut SeatAllocator, threads: &[(Tid, &str)]) -> String {
    let steps = threads.iter().map(|(tid, name)| seating.seat_existing(*tid, MAIN, name));
    joined(steps.map(|step| cpu(&step)), " ")
}

fn sat(cpu: u32) -> impl Fn(&SeatChange) -> bool {
    move |moved| matches!(moved, SeatChange::Sit(seat) if seat.cpus.only() == Some(cpu))
}

#[test]
fn list_cycles_over_its_cpus() {
    let mut seating = by_list(&[5, 3, 3]);
    assert_eq!(cpus(&mut seating, 0..3), "5 3 3");
    let again = seating.thread(3, MAIN);
    assert!(told(&again) == "3:5" && again[0].shares, "{again:?}");
    assert_eq!(cpus(&mut seating, 4..5), "3");
    assert!(seating.order_is_open());
}

#[test]
fn plan_ends_after_its_tasks() {
    let mut seating = room(seats(&[5, 3], Beyond::Leave), &[], 1);
    assert_eq!(cpus(&mut seating, 0..4), "- 5 3 -");
    assert!(!seating.order_is_open());
}

#[test]
fn exited_thread_leaves_no_gap() {
    let mut seating = by_plan(&[5, 3], &[]);
    assert_eq!(cpus(&mut seating, 1..2), "5");
    seating.exited(1);
    assert_eq!(cpus(&mut seating, 2..3), "3");
}

#[test]
fn the_first_process_waits_until_it_creates_a_thread() {
    let mut seating = by_list(&[5, 3, 7]);
    assert_eq!(seating.process(MAIN), None);
    assert!(seating.waits(MAIN) && seating.is_first(MAIN));
    assert_eq!(told(&seating.thread(1, MAIN)), "100:5 1:3");
    assert_eq!(told(&seating.thread(2, MAIN)), "2:7");
    assert!(!seating.waits(MAIN));
}

#[test]
fn short_lived_helpers_take_no_seat() {
    let mut seating = by_list(&[5, 3, 7]);
    (MAIN..MAIN + 4).for_each(|tid| assert_eq!(seating.process(tid), None));
    seating.exited(MAIN + 1);
    assert_eq!(told(&seating.settle(MAIN + 1)), "", "it is gone");
    assert_eq!(told(&seating.settle(MAIN + 2)), "100:5 102:3", "the first goes before");
    assert_eq!(told(&seating.settle(MAIN + 3)), "103:7");
}

#[test]
fn strict_seating_assigns_immediately() {
    let mut seating = by_list(&[5, 3]).strict(true);
    let seated: Vec<_> = (0..3).filter_map(|tid| seating.process(tid)).collect();
    assert_eq!(told(&seated), "0:5 1:3 2:5");
    assert!(!seating.executed(0, 0));
}

#[test]
fn executed_program_waits_again_and_keeps_seat() {
    let mut seating = by_list(&[5, 3]);
    seating.process(MAIN);
    seating.thread(1, MAIN);
    assert!(seating.executed(1, MAIN) && seating.waits(MAIN));
    assert!(!seating.executed(MAIN, MAIN), "it waits already");
    assert_eq!(told(&seating.thread(2, MAIN)), "100:3 2:5");
}

#[test]
fn first_process_stays_first_after_exec() {
    let mut seating = by_list(&[5, 3, 7]);
    seating.process(MAIN);
    seating.thread(1, MAIN);
    assert!(seating.executed(1, MAIN) && seating.is_first(MAIN));
    assert!(seating.process(2).is_none() && !seating.is_first(2));
}

#[test]
fn vacated_seat_is_not_shared() {
    let mut seating = by_plan(&[5, 3], &[("w", &[1])]);
    assert_eq!(cpus(&mut seating, 1..2), "5");
    assert!(sat(3)(&seating.named(1, MAIN, "w")));
    let next = seating.thread(2, MAIN);
    assert!(told(&next) == "2:5" && !next[0].shares, "{next:?}");
}

#[test]
fn thread_names_move_threads_between_seats() {
    let mut seating = by_plan(&[5, 3, 7], &[("w*", &[1])]);
    assert_eq!(cpus(&mut seating, 50..51), "5");
    assert_eq!(cpus(&mut seating, 1..2), "7", "task 1 is kept for the rule");
    assert_eq!(seating.named(1, MAIN, "other"), SeatChange::Stay);
    assert!(sat(3)(&seating.named(1, MAIN, "w1")));
    assert_eq!(seating.named(1, MAIN, "w2"), SeatChange::Stay);
    assert_eq!(cpus(&mut seating, 2..3), "7", "the seat that it left");
    assert_eq!(seating.named(2, MAIN, "w3"), SeatChange::Stay, "the rule has no more tasks");
    assert_eq!(seating.named(1, MAIN, "x"), SeatChange::Leave);
    assert!(sat(3)(&seating.named(2, MAIN, "w3")));
}

#[test]
fn rule_serves_next_thread_after_exit() {
    let mut seating = by_plan(&[5], &[("w", &[0])]);
    assert_eq!(cpus(&mut seating, 1..3), "- -");
    assert!(sat(5)(&seating.named(1, MAIN, "w")));
    seating.exited(1);
    assert!(sat(5)(&seating.named(2, MAIN, "w")));
}

#[test]
fn rules_may_share_task_or_cpu_set() {
    let mut seating = by_plan(&[5, 3], &[("w", &[0]), ("v", &[0])]);
    let set = Seat::shared([14, 15].into_iter().collect());
    seating.rules.push(SeatRule { who: Who::Named("io*".to_owned()), seats: vec![set.clone()] });
    cpus(&mut seating, 1..6);
    assert!(sat(5)(&seating.named(1, MAIN, "w")) && sat(5)(&seating.named(2, MAIN, "v")));
    assert_eq!(seating.named(3, MAIN, "w"), SeatChange::Stay, "each rule gives it once");
    for tid in 4..6 {
        assert_eq!(seating.named(tid, MAIN, "io1"), SeatChange::Sit(set.clone()));
    }
    assert!(seating.is_a_seat(&set.cpus) && !seating.is_a_seat(&CpuSet::single(14)));
}

#[test]
fn exec_keeps_seat_of_rule() {
    let mut seating = by_plan(&[5, 3], &[("w", &[1])]);
    cpus(&mut seating, 1..2);
    seating.named(1, MAIN, "w");
    assert!(!seating.executed(1, MAIN), "a rule's seat is not left");
    assert_eq!(seating.named(MAIN, MAIN, "w"), SeatChange::Stay);
    assert_eq!(seating.named(MAIN, MAIN, "x"), SeatChange::Leave);
}

#[test]
fn existing_threads_are_seated_by_rules_first() {
    let seats = seats(&[5, 3], Beyond::Leave);
    let rules = vec![SeatRule { who: Who::Tid(2), seats: vec![seats.of(0).unwrap()] }];
    let mut seating = SeatAllocator::new(seats, rules, 0);
    assert_eq!(found(&mut seating, &[(1, "x"), (2, "x"), (3, "x")]), "3 5 -");
}

#[test]
fn allowed_cpus_join_seats_and_rules() {
    let set = |list: &str| CpuSet::of_list(list).unwrap();
    let io = Who::Named("io*".to_owned());
    let rules = vec![SeatRule { who: io, seats: vec![Seat::shared(set("14-15"))] }];
    let both = SeatAllocator::new(seats(&[5, 3], Beyond::Cycle), rules.clone(), 0);
    assert_eq!(both.cpus(&set("0-15")), set("3,5,14-15"));
    let rules_alone = SeatAllocator::new(seats(&[], Beyond::Cycle), rules, 0);
    assert_eq!(rules_alone.cpus(&set("0-7")), set("0-7,14-15"));
}

#[derive(Clone, Debug)]
enum Event {
    Process(Tid),
    Thread(Tid, Tid),
    Settled(Tid),
    Named(Tid, &'static str),
    Executed(Tid, Tid),
    Exited(Tid),
}

fn event() -> impl Strategy<Value = Event> {
    let tid = || 1..9;
    let name = prop::sample::select(vec!["w", "v", "x"]);
    prop_oneof![
        tid().prop_map(Event::Process),
        (tid(), tid()).prop_map(|(tid, pid)| Event::Thread(tid, pid)),
        tid().prop_map(Event::Settled),
        (tid(), name).prop_map(|(tid, name)| Event::Named(tid, name)),
        (tid(), tid()).prop_map(|(former, tid)| Event::Executed(former, tid)),
        tid().prop_map(Event::Exited),
    ]
}

proptest! {
    /// A plan's task has at most one living thread, and rules keep to their tasks.
    #[test]
    fn each_task_has_one_living_thread(events in prop::collection::vec(event(), 0..60), strict: bool) {
        let mut seating = room(seats(&[5, 3, 7, 5, 2, 1], Beyond::Leave), &[("w", &[1, 2]), ("v", &[4])], 1);
        seating.strict = strict;
        for event in events {
            match event {
                Event::Process(tid) | Event::Thread(tid, _) if seating.guests.contains_key(&tid) => {}
                Event::Process(tid) => { seating.process(tid); }
                Event::Thread(tid, pid) => { seating.thread(tid, pid); }
                Event::Settled(tid) => { seating.settle(tid); }
                Event::Named(tid, name) => { seating.named(tid, MAIN, name); }
                Event::Executed(former, tid) => { seating.executed(former, tid); }
                Event::Exited(tid) => seating.exited(tid),
            }
            let mut seen = HashSet::new();
            for guest in seating.guests.values() {
                let Some(seat) = &guest.seat else { continue };
                let task = seat.task.unwrap();
                prop_assert!(seen.insert(task), "task {task} twice");
                prop_assert_eq!(Some(seat.clone()), seating.seats.of(task));
                prop_assert_eq!(guest.rule.is_some(), [1, 2, 4].contains(&task));
                prop_assert!(!guest.waits || guest.rule.is_none());
            }
            prop_assert!(!strict || seating.guests.values().all(|guest| !guest.waits));
        }
    }

    #[test]
    fn thread_number_selects_task(
        list in prop::collection::vec(0u32..64, 1..9), skip in 0usize..4, threads in 1usize..30, strict: bool,
    ) {
        let played = |beyond| {
            let mut seating = room(seats(&list, beyond), &[], skip).strict(strict);
            let mut steps: Vec<SeatAssignment> = seating.process(1).into_iter().collect();
            (1..threads).for_each(|k| steps.extend(seating.thread(k as Tid + 1, 1)));
            steps.extend(seating.settle(1));
            steps.iter().map(|step| (step.tid, cpu(step), step.skipped)).collect::<Vec<_>>()
        };
        let expected = |k: usize, ends: bool| {
            let seat = k.checked_sub(skip).filter(|k| !ends || *k < list.len()).map(|k| list[k % list.len()]);
            (k as Tid + 1, seat.map_or_else(|| "-".to_owned(), |cpu| cpu.to_string()), k < skip)
        };
        prop_assert_eq!(played(Beyond::Cycle), (0..threads).map(|k| expected(k, false)).collect::<Vec<_>>());
        prop_assert_eq!(played(Beyond::Leave), (0..threads).map(|k| expected(k, true)).collect::<Vec<_>>());
    }
}

/// The main thread, its two children, and a child of each.
fn observed() -> SeatList {
    let text = |all: [&str; 5]| all.map(str::to_owned).to_vec();
    SeatList {
        names: text(["main", "left", "right", "worker#0", "worker#1"]),
        paths: text(["0", "0.0", "0.1", "0.0.0", "0.1.0"]),
        ..seats(&[0, 1, 2, 3, 4], Beyond::Leave)
    }
}

#[test]
fn racing_threads_are_seated_by_creation_path() {
    let mut seating = room(observed(), &[], 0);
    seating.born(MAIN, 1);
    assert_eq!(seating.process(MAIN), None);
    let mut create = |tid: Tid, creator: Tid| {
        seating.born(tid, creator);
        told(&seating.thread(tid, MAIN))
    };
    assert_eq!(create(101, MAIN), "100:0 101:1");
    assert_eq!(create(102, MAIN), "102:2");
    assert_eq!(create(103, 102), "103:4", "the second creator was first");
    assert_eq!(create(104, 101), "104:3");
    assert_eq!(create(105, 101), "105:-", "all seats are taken");
    assert_eq!(seating.strangers, 0);
}

#[test]
fn unmatched_path_takes_next_free_seat() {
    let mut seating = room(observed(), &[], 0);
    seating.born(MAIN, 1);
    seating.process(MAIN);
    assert_eq!(told(&seating.thread(101, MAIN)), "100:0 101:1");
    seating.born(102, MAIN);
    assert_eq!(told(&seating.thread(102, MAIN)), "102:2", "its own seat is taken");
    assert_eq!(seating.strangers, 2);
}

#[test]
fn existing_threads_are_seated_by_name() {
    let mut seating = room(observed(), &[], 0);
    let first = [(100, "main"), (103, "worker"), (104, "worker")];
    assert_eq!(found(&mut seating, &first), "0 3 4");
    assert_eq!(found(&mut seating, &[(105, "work"), (106, "right")]), "1 2");
}

#[test]
#[should_panic(expected = "broke an invariant: seats in order: the seat of task 0 is given up")]
fn seat_given_up_twice_panics() {
    let mut seating = by_plan(&[0, 1], &[]).strict(true);
    seating.process(MAIN);
    let guest = seating.guests[&MAIN].clone();
    seating.give_up(&guest);
    seating.give_up(&guest);
}

fn beside(root: &Root, members: &[&[u32]], beyond: Beyond) -> SeatAllocator {
    let single = |cpus: &&[u32]| cpus.iter().copied().map(CpuSet::single).collect();
    let seats = SeatList::of_members(members.iter().map(single).collect(), beyond);
    SeatAllocator { leases: Leases::on(root), ..SeatAllocator::new(seats, Vec::new(), 0) }
}

#[test]
fn seats_of_other_runs_are_used_last() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("sys/devices/system")).unwrap();
    let root = Root::new(folder.path());
    let mut first = beside(&root, &[&[0, 1, 2, 3]], Beyond::Cycle);
    let mut second = beside(&root, &[&[0, 1, 2, 3]], Beyond::Cycle);
    assert_eq!(cpus(&mut first, 0..2), "0 1");
    assert_eq!(cpus(&mut second, 10..14), "2 3 0 1", "all are given before any twice");
    assert_eq!(second.leases.notes().len(), 1, "the third had a choice, and none was free");
    first.exited(0);
    assert_eq!(cpus(&mut second, 14..18), "0 2 3 1", "and so in the next round");
    // A user's order is kept.
    let mut ordered = beside(&root, &[&[1], &[3, 4, 5], &[0]], Beyond::Cycle);
    assert_eq!(cpus(&mut ordered, 20..25), "1 4 5 3 0");
    let mut once = beside(&root, &[&[4, 6]], Beyond::Leave);
    assert_eq!(cpus(&mut once, 30..33), "6 4 -");
    // Leases survive a change of number.
    once.executed(30, 31);
    drop((first, second, ordered));
    let mut last = beside(&root, &[&[6, 4]], Beyond::Cycle);
    assert_eq!(cpus(&mut last, 40..41), "4");
    assert!(last.leases.notes().is_empty());
}
