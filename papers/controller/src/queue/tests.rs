//! The promises of the queue: capacity, order, no starvation, and shares that converge.

use super::*;
use crate::usage::HALF_LIFE_MS;
use proptest::prelude::*;

const SLICE_MS: u64 = 1000;

fn lowest(open: &CpuSet, count: usize) -> Option<CpuSet> {
    (open.len() >= count).then(|| open.iter().take(count).collect())
}

fn set(list: &str) -> CpuSet {
    CpuSet::of_list(list).unwrap()
}

fn ticket(id: u64, uid: u32, wants: Wants) -> Ticket {
    Ticket { id, uid, priority: 0, wants, takes_turns: false }
}

fn count(id: u64, cpus: usize) -> Ticket {
    ticket(id, 0, Wants::Count(cpus))
}

fn list(id: u64, cpus: &str) -> Ticket {
    ticket(id, 0, Wants::Cpus(set(cpus)))
}

fn turn(id: u64, uid: u32, cpus: usize) -> Ticket {
    Ticket { takes_turns: true, ..ticket(id, uid, Wants::Count(cpus)) }
}

fn told(actions: &[Action]) -> Vec<i64> {
    let one = |action: &Action| match action {
        Action::Start(id, _) => *id as i64,
        Action::Suspend(id) => -(*id as i64),
    };
    actions.iter().map(one).collect()
}

fn with(policy: Policy, tickets: Vec<Ticket>) -> TicketQueue {
    let mut queue = TicketQueue::new(policy, SLICE_MS, UserUsage::since(0));
    tickets.into_iter().for_each(|ticket| queue.submit(0, ticket));
    queue
}

#[test]
fn fifo_starts_in_order_and_keeps_one_cpu() {
    let mut queue = with(Policy::Fifo, vec![count(1, 2), count(2, 1), count(3, 1)]);
    let pool = set("0-3");
    assert_eq!(told(&queue.step(0, &pool, &lowest)), [1, 2]);
    assert_eq!(queue.place(3), Some((0, 1)));
    assert!(queue.step(5, &pool, &lowest).is_empty());
    queue.leave(6, 2);
    assert_eq!(told(&queue.step(6, &pool, &lowest)), [3]);
}

#[test]
fn waiting_list_request_reserves_only_its_cpus() {
    let mut queue =
        with(Policy::Fifo, vec![list(1, "1"), list(2, "1-2"), list(3, "2"), list(4, "3")]);
    let pool = set("0-4");
    assert_eq!(told(&queue.step(0, &pool, &lowest)), [1, 4], "3 would take a CPU that 2 waits for");
    queue.leave(1, 1);
    assert_eq!(told(&queue.step(1, &pool, &lowest)), [2]);
}

#[test]
fn small_requests_never_starve_large_one() {
    let mut queue = with(Policy::Fifo, vec![count(1, 1), count(2, 3), count(3, 1)]);
    let pool = set("0-3");
    assert_eq!(told(&queue.step(0, &pool, &lowest)), [1]);
    queue.leave(1, 1);
    assert_eq!(told(&queue.step(1, &pool, &lowest)), [2]);
}

#[test]
fn priority_counts_as_waiting_time() {
    let urgent = |id, priority| Ticket { priority, ..count(id, 1) };
    let pool = set("0-1");
    let mut queue = with(Policy::Priority, vec![urgent(1, 0)]);
    queue.submit(AGEING_MS - 1, urgent(2, 1));
    assert_eq!(told(&queue.clone().step(AGEING_MS, &pool, &lowest)), [2]);
    queue.leave(AGEING_MS, 2);
    queue.submit(AGEING_MS + 1, urgent(3, 1));
    assert_eq!(told(&queue.step(AGEING_MS + 1, &pool, &lowest)), [1], "it has waited long enough");
}

#[test]
fn fair_prefers_user_with_least_usage() {
    let mut queue = with(Policy::Fair, vec![ticket(1, 7, Wants::Count(1))]);
    let pool = set("0-1");
    queue.step(0, &pool, &lowest);
    queue.submit(1, ticket(2, 7, Wants::Count(1)));
    queue.submit(2, ticket(3, 8, Wants::Count(1)));
    queue.leave(5000, 1);
    assert_eq!(told(&queue.step(5000, &pool, &lowest)), [3]);
    assert!((queue.usage().of(7) - 5000.0).abs() < 20.0);
}

#[test]
fn gangs_alternate_whole_and_keep_their_cpus() {
    let mut queue = with(Policy::Fifo, vec![turn(1, 0, 2), turn(2, 0, 3)]);
    let pool = set("0-3");
    assert_eq!(queue.step(0, &pool, &lowest), [Action::Start(1, set("0-1"))]);
    assert!(queue.step(SLICE_MS - 1, &pool, &lowest).is_empty(), "a slice is a slice");
    assert_eq!(told(&queue.step(SLICE_MS, &pool, &lowest)), [-1, 2]);
    let back = queue.step(2 * SLICE_MS, &pool, &lowest);
    assert_eq!(back, [Action::Suspend(2), Action::Start(1, set("0-1"))]);
    queue.leave(2 * SLICE_MS, 2);
    assert!(queue.step(9 * SLICE_MS, &pool, &lowest).is_empty(), "alone it is left in peace");
}

#[test]
fn remaining_cpu_may_be_of_any_gang() {
    let gang = |id, cpus| Ticket { takes_turns: true, ..list(id, cpus) };
    let mut queue = with(Policy::Fifo, vec![gang(1, "0-1"), gang(2, "2"), gang(3, "2-3")]);
    let pool = set("0-3");
    assert_eq!(told(&queue.step(0, &pool, &lowest)), [1, 2]);
    assert_eq!(
        told(&queue.step(SLICE_MS, &pool, &lowest)),
        [-2, -1, 3],
        "2 has what 3 wants; 0 or 1 must stay"
    );
}

#[test]
fn request_waits_for_unavailable_cpus() {
    let mut queue = with(Policy::Fifo, vec![list(1, "1")]);
    assert!(queue.step(0, &set("0,2"), &lowest).is_empty());
    assert_eq!(told(&queue.step(1, &set("0-2"), &lowest)), [1]);
}

/// User 1's share if user 1 has `his` requests and user 2 has one.
fn share(policy: Policy, his: u64) -> f64 {
    let mut queue = TicketQueue::new(policy, SLICE_MS, UserUsage::since(0));
    (1..=his).for_each(|id| queue.submit(0, turn(id, 1, 1)));
    queue.submit(0, turn(his + 1, 2, 1));
    let mut had = 0;
    let mut current = 0;
    let steps = 4000;
    for step in 0..steps {
        for action in queue.step(step * SLICE_MS, &set("0-1"), &lowest) {
            if let Action::Start(id, _) = action {
                current = id;
            }
        }
        had += u64::from(current <= his);
    }
    had as f64 / steps as f64
}

#[test]
fn fair_shares_converge_per_user() {
    for his in [1, 2, 5] {
        let fair = share(Policy::Fair, his);
        assert!((fair - 0.5).abs() < 0.01, "{his} against 1: {fair}");
        let first = share(Policy::Fifo, his);
        let by_head = his as f64 / (his + 1) as f64;
        assert!((first - by_head).abs() < 0.01, "first come, first served is by ticket: {first}");
    }
}

#[test]
fn adopted_cell_is_charged_since_last_account() {
    let mut queue =
        TicketQueue::new(Policy::Fair, SLICE_MS, UserUsage::at(1000, [(8, 100.0)].into()));
    queue.adopt(601_000, list(1, "0-1"), set("0-1"));
    queue.settle(601_000);
    // The integral of a rate that halves in that time.
    let had = 2.0 * HALF_LIFE_MS * 0.5 / std::f64::consts::LN_2;
    assert!((queue.usage().of(0) - had).abs() < 1.0, "{}", queue.usage().of(0));
    assert!((queue.usage().of(8) - 50.0).abs() < 1e-3);
}

#[test]
fn heavy_user_eventually_starts() {
    // User 1 had the CPU for ten half-lives; then another user's one-second requests never end.
    let mut queue = with(Policy::Fair, vec![ticket(1, 1, Wants::Count(1))]);
    let pool = set("0-1");
    let ten = 10 * HALF_LIFE_MS as u64;
    queue.step(0, &pool, &lowest);
    queue.leave(ten, 1);
    queue.submit(ten, ticket(2, 1, Wants::Count(1)));
    let had = queue.usage().of(1);
    for step in 1.. {
        let now = ten + step * 1000;
        assert!(((now - ten) as f64) < had, "a CPU-ms is worth 1 ms of waiting, and decays");
        let id = step + 2;
        queue.submit(now, ticket(id, 2, Wants::Count(1)));
        if told(&queue.step(now, &pool, &lowest)) == [2] {
            break;
        }
        queue.leave(now + 999, id);
    }
}

#[derive(Clone, Debug)]
struct Event {
    wait_ms: u64,
    comes: Option<(u32, u8, Wants, bool)>,
    goes: usize,
}

fn wants() -> impl Strategy<Value = Wants> {
    let some = prop::collection::btree_set(0u32..6, 1..5)
        .prop_map(|cpus| Wants::Cpus(cpus.into_iter().collect()));
    prop_oneof![(1usize..6).prop_map(Wants::Count), some]
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let comes = prop::option::of((0u32..3, 0u8..10, wants(), any::<bool>()));
    let event = (0u64..3000, comes, 0usize..20);
    prop::collection::vec(
        event.prop_map(|(wait_ms, comes, goes)| Event { wait_ms, comes, goes }),
        0..60,
    )
}

fn policies() -> impl Strategy<Value = Policy> {
    prop::sample::select(Policy::ALL.to_vec())
}

#[derive(Default)]
struct Watch {
    holding: BTreeMap<u64, CpuSet>,
    started: std::collections::BTreeSet<u64>,
}

impl Watch {
    fn see(&mut self, actions: &[Action], pool: &CpuSet, wanted: &BTreeMap<u64, Wants>) {
        for action in actions {
            match action {
                Action::Suspend(id) => {
                    assert!(self.holding.remove(id).is_some(), "{id} held nothing")
                }
                Action::Start(id, cpus) => {
                    assert!(
                        self.holding.values().all(|held| !held.meets(cpus)),
                        "one CPU, two holders"
                    );
                    assert_eq!(cpus.len(), wanted[id].len());
                    assert_eq!(wanted[id].of(cpus), *cpus, "not what was wanted");
                    self.holding.insert(*id, cpus.clone());
                    self.started.insert(*id);
                }
            }
        }
        let held = self.holding.values().fold(CpuSet::default(), |held, cpus| held.with(cpus));
        assert!(
            held.is_subset(pool) && (held.is_empty() || held != *pool),
            "nothing is left: {held}"
        );
    }
}

proptest! {
    #[test]
    fn capacity_holds_and_every_request_starts(policy in policies(), events in events()) {
        let mut queue = TicketQueue::new(policy, SLICE_MS, UserUsage::since(0));
        let pool = set("0-5");
        let mut watch = Watch::default();
        let mut wanted = BTreeMap::new();
        let mut now = 0;
        for (id, event) in (1u64..).zip(events) {
            now += event.wait_ms;
            if let Some((uid, priority, wants, takes_turns)) = event.comes {
                wanted.insert(id, wants.clone());
                queue.submit(now, Ticket { id, uid, priority, wants, takes_turns });
            }
            if let Some(id) = watch.holding.keys().nth(event.goes).copied() {
                queue.leave(now, id);
                watch.holding.remove(&id);
            }
            watch.see(&queue.step(now, &pool, &lowest), &pool, &wanted);
            prop_assert_eq!(queue.held(), watch.holding.values().fold(CpuSet::default(), |a, b| a.with(b)));
        }
        // Running tickets leave and none come, so each round starts one.
        for _ in 0..=wanted.len() {
            watch.holding.keys().for_each(|id| queue.leave(now, *id));
            watch.holding.clear();
            now += SLICE_MS;
            watch.see(&queue.step(now, &pool, &lowest), &pool, &wanted);
        }
        prop_assert_eq!(watch.started.len(), wanted.len());
    }

    #[test]
    fn endless_gangs_all_get_turns(policy in policies(), sizes in prop::collection::vec(1usize..4, 1..6)) {
        let mut queue = TicketQueue::new(policy, SLICE_MS, UserUsage::since(0));
        let pool = set("0-3");
        let wanted: BTreeMap<u64, Wants> = (1u64..).zip(&sizes).map(|(id, size)| (id, Wants::Count(*size))).collect();
        for (id, size) in (1u64..).zip(&sizes) {
            queue.submit(0, Ticket { priority: (id % 10) as u8, ..turn(id, id as u32 % 2, *size) });
        }
        let mut watch = Watch::default();
        let mut turns = BTreeMap::<u64, u32>::new();
        for step in 0..1200 {
            let actions = queue.step(step * SLICE_MS, &pool, &lowest);
            watch.see(&actions, &pool, &wanted);
            watch.holding.keys().for_each(|id| *turns.entry(*id).or_insert(0) += 1);
        }
        prop_assert_eq!(turns.len(), sizes.len());
        // A step of priority is worth a minute of waiting, 60 turns of another ticket; and all of a
        // user's tickets count.
        let least = if policy == Policy::Fifo { 50 } else { 2 };
        prop_assert!(turns.values().all(|turns| *turns >= least), "{:?}", turns);
    }

    #[test]
    fn fifo_serves_in_arrival_order(sizes in prop::collection::vec(1usize..4, 1..12)) {
        let mut queue = TicketQueue::new(Policy::Fifo, SLICE_MS, UserUsage::since(0));
        let pool = set("0-3");
        (1u64..).zip(&sizes).for_each(|(id, size)| queue.submit(id, count(id, *size)));
        let mut order = Vec::<i64>::new();
        let mut holding = std::collections::VecDeque::new();
        while order.len() < sizes.len() {
            let started = told(&queue.step(100, &pool, &lowest));
            order.extend(&started);
            holding.extend(started);
            queue.leave(100, holding.pop_front().unwrap() as u64);
        }
        prop_assert!(order.is_sorted(), "{:?}", order);
    }
}

#[test]
#[should_panic(expected = "broke an invariant: queue of the controller: ticket 2 holds 1,2")]
fn two_holders_of_a_cpu_panic() {
    let mut queue = with(Policy::Fifo, vec![]);
    queue.adopt(0, list(1, "0-1"), set("0-1"));
    queue.adopt(0, list(2, "1-2"), set("1-2"));
}

#[test]
#[should_panic(expected = "ticket 1 is there twice")]
fn duplicate_ticket_panics() {
    with(Policy::Fifo, vec![count(1, 1), count(1, 1)]);
}
