//! The room, played through.

use super::*;
use crate::rule::Who;
use proptest::prelude::*;

const MAIN: Tid = 100;

fn seats(cpus: &[u32], beyond: Beyond) -> Seats {
    Seats { cpus: cpus.to_vec(), names: Vec::new(), beyond }
}

fn rule(name: &str, tasks: &[usize]) -> Rule {
    Rule { who: Who::Named(name.to_owned()), tasks: tasks.to_vec() }
}

fn cpus(seating: &mut Seating, threads: std::ops::Range<Tid>) -> Vec<Option<u32>> {
    threads.map(|tid| seating.created(tid).map(|seat| seat.cpu)).collect()
}

#[test]
fn a_list_cycles() {
    let mut seating = Seating::new(seats(&[5, 3, 3], Beyond::Cycle), Vec::new(), 0);
    assert_eq!(cpus(&mut seating, 0..5), [Some(5), Some(3), Some(3), Some(5), Some(3)]);
    assert!(seating.order_is_open());
}

#[test]
fn a_plan_ends() {
    let mut seating = Seating::new(seats(&[5, 3], Beyond::Leave), Vec::new(), 1);
    assert_eq!(cpus(&mut seating, 0..4), [None, Some(5), Some(3), None]);
    assert!(!seating.order_is_open());
}

#[test]
fn a_thread_that_exits_leaves_no_gap() {
    let mut seating = Seating::new(seats(&[5, 3], Beyond::Leave), Vec::new(), 0);
    assert_eq!(seating.created(1).map(|seat| seat.task), Some(0));
    seating.exited(1);
    assert_eq!(seating.created(2).map(|seat| seat.task), Some(1));
}

#[test]
fn names_move_threads() {
    let mut seating = Seating::new(seats(&[5, 3, 7], Beyond::Leave), vec![rule("w*", &[1])], 0);
    assert_eq!(seating.created(MAIN), Some(Seat { task: 0, cpu: 5 }));
    assert_eq!(seating.created(1), Some(Seat { task: 2, cpu: 7 }), "task 1 is kept for the rule");
    assert_eq!(seating.named(1, MAIN, "other"), Move::Stay);
    assert_eq!(seating.named(1, MAIN, "w1"), Move::Sit(Seat { task: 1, cpu: 3 }));
    assert_eq!(seating.named(1, MAIN, "w2"), Move::Stay);
    assert_eq!(seating.created(2), Some(Seat { task: 2, cpu: 7 }), "the seat that it left");
    assert_eq!(seating.named(2, MAIN, "w3"), Move::Stay, "the rule has no more tasks");
    assert_eq!(seating.named(1, MAIN, "x"), Move::Leave);
    assert_eq!(seating.named(2, MAIN, "w3"), Move::Sit(Seat { task: 1, cpu: 3 }));
}

#[test]
fn a_rule_serves_the_next_when_one_is_gone() {
    let mut seating = Seating::new(seats(&[5], Beyond::Leave), vec![rule("w", &[0])], 0);
    assert_eq!((seating.created(1), seating.created(2)), (None, None));
    assert_eq!(seating.named(1, MAIN, "w"), Move::Sit(Seat { task: 0, cpu: 5 }));
    seating.exited(1);
    assert_eq!(seating.named(2, MAIN, "w"), Move::Sit(Seat { task: 0, cpu: 5 }));
}

#[test]
fn an_exec_keeps_its_seat() {
    let mut seating = Seating::new(seats(&[5, 3], Beyond::Leave), vec![rule("w", &[1])], 0);
    seating.created(MAIN);
    seating.created(1);
    seating.named(1, MAIN, "w");
    seating.became(1, MAIN);
    assert_eq!(seating.named(MAIN, MAIN, "w"), Move::Stay);
    assert_eq!(seating.named(MAIN, MAIN, "x"), Move::Leave);
}

#[test]
fn what_is_found_goes_by_rule_first() {
    let rules = vec![Rule { who: Who::Tid(2), tasks: vec![0] }];
    let mut seating = Seating::new(seats(&[5, 3], Beyond::Leave), rules, 0);
    let found: Vec<_> = (1..4).map(|tid| seating.found(tid, MAIN, "x").map(|seat| seat.cpu)).collect();
    assert_eq!(found, [Some(3), Some(5), None]);
}

#[derive(Clone, Debug)]
enum Event {
    Created(Tid),
    Named(Tid, &'static str),
    Became(Tid, Tid),
    Exited(Tid),
}

fn event() -> impl Strategy<Value = Event> {
    let tid = || 1..9;
    let name = prop::sample::select(vec!["w", "v", "x"]);
    prop_oneof![
        tid().prop_map(Event::Created),
        (tid(), name).prop_map(|(tid, name)| Event::Named(tid, name)),
        (tid(), tid()).prop_map(|(former, tid)| Event::Became(former, tid)),
        tid().prop_map(Event::Exited),
    ]
}

proptest! {
    /// Whatever happens, a plan's task has at most one living thread, and rules keep to their own tasks.
    #[test]
    fn nobody_sits_on_anothers_lap(events in prop::collection::vec(event(), 0..60)) {
        let rules = vec![rule("w", &[1, 2]), rule("v", &[4])];
        let mut seating = Seating::new(seats(&[5, 3, 7, 5, 2, 1], Beyond::Leave), rules, 1);
        for event in events {
            match event {
                Event::Created(tid) if seating.guests.contains_key(&tid) => {}
                Event::Created(tid) => { seating.created(tid); }
                Event::Named(tid, name) => { seating.named(tid, MAIN, name); }
                Event::Became(former, tid) => seating.became(former, tid),
                Event::Exited(tid) => seating.exited(tid),
            }
            let mut seen = HashSet::new();
            for guest in seating.guests.values() {
                let Some(seat) = guest.seat else { continue };
                prop_assert!(seen.insert(seat.task), "task {} twice", seat.task);
                prop_assert_eq!(Some(seat), seating.seats.of(seat.task));
                prop_assert_eq!(guest.rule.is_some(), [1, 2, 4].contains(&seat.task));
            }
        }
    }

    /// In order of creation alone, thread k takes entry k of the list, over and over.
    #[test]
    fn thread_k_is_task_k(list in prop::collection::vec(0u32..64, 1..9), skip in 0usize..4, threads in 0usize..30) {
        let mut cycling = Seating::new(seats(&list, Beyond::Cycle), Vec::new(), skip);
        let mut ending = Seating::new(seats(&list, Beyond::Leave), Vec::new(), skip);
        for k in 0..threads {
            let tid = k as Tid + 1;
            let expected = k.checked_sub(skip).map(|k| list[k % list.len()]);
            prop_assert_eq!(cycling.created(tid).map(|seat| seat.cpu), expected);
            prop_assert_eq!(ending.created(tid).map(|seat| seat.cpu), expected.filter(|_| k - skip < list.len()));
        }
    }
}
