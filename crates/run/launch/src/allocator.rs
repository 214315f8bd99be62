//! Decides which thread gets which seat, from the events of threads. Only the seats of other runs
//! are read from the kernel (`Leases`).
//!
//! | event | decision |
//! |---|---|
//! | a process begins | it waits on the whole set of CPUs, so that it counts the right number |
//! | a thread is created | its process takes a seat if it waits; the thread takes the next |
//! | a process has lived for a while | it takes the next seat; a shorter-lived helper gets none |
//! | a name is seen | the first free seat of the first matching rule |
//! | a name no longer matches | the thread returns its seat |
//! | a plan with paths seats a thread | the task with the thread's path, else the next seat |
//! | a thread exits | a rule's task is free again; others are not: thread k stays task k |
//! | a program is executed | its thread keeps its seat, even if renumbered, and waits on all CPUs |
//!
//! The program's first process waits until other threads have seats, however long. In a strict
//! seating, each thread and process takes its seat at its creation.
//!
//! Tasks named in a rule are kept for rules. If a thread moves to a rule's seat, the next takes its
//! old one, unless the list cycles.
//!
//! If the list leaves a choice ([`SeatList::choices`]), a thread takes the next free seat. In each
//! round of a cycling list, seats of other runs come last.

use crate::leases::Leases;
use crate::lineage::Lineage;
use crate::rule::SeatRule;
use crate::seats::{Beyond, Seat, SeatList};
use seatmap_data::invariant;
use seatmap_os::{CpuSet, Root, Tid, affinity};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A thread's seat, or its absence.
#[derive(Debug, PartialEq)]
pub struct SeatAssignment {
    /// The TID.
    pub tid: Tid,
    /// The seat; `None` if skipped, or beyond the last seat.
    pub seat: Option<Seat>,
    /// Whether the thread was skipped.
    pub skipped: bool,
    /// Whether another thread already has this seat, because the list cycles.
    pub shares: bool,
}

impl SeatAssignment {
    pub fn of(tid: Tid, seat: Seat) -> Self {
        SeatAssignment { tid, seat: Some(seat), skipped: false, shares: false }
    }
}

/// The effect of a thread's name on its seat.
#[derive(Debug, PartialEq)]
pub enum SeatChange {
    /// It keeps its seat.
    Stay,
    /// It moves to this seat.
    Sit(Seat),
    /// It loses its seat.
    Leave,
}

#[derive(Clone, Debug, Default)]
struct Guest {
    seat: Option<Seat>,
    /// `None` for a seat in order.
    rule: Option<usize>,
    /// Whether it uses the whole set for now.
    waits: bool,
}

/// Gives seats to threads in order of creation, by name or by path.
#[derive(Debug)]
pub struct SeatAllocator {
    /// The list of seats.
    pub seats: SeatList,
    /// The union of all seats, for unseated threads.
    pub whole: CpuSet,
    rules: Vec<SeatRule>,
    strict: bool,
    skip: usize,
    order: Vec<usize>,
    free: BTreeSet<usize>,
    /// Positions in `order` left in this round.
    round: BTreeSet<usize>,
    given: usize,
    /// Tasks in use by rules, with the rule: two rules may share a task.
    taken: HashSet<(usize, usize)>,
    first: Option<Tid>,
    guests: HashMap<Tid, Guest>,
    task_of_path: HashMap<String, usize>,
    lineage: Lineage<Tid>,
    /// Threads without a free task of their path.
    pub strangers: usize,
    pub(crate) leases: Leases,
    /// Matched rules, even those without a free seat.
    met: BTreeSet<usize>,
}

const SEATS: &str = "seats in order";

const FIRST_PATH: &str = "0";

impl SeatAllocator {
    /// A seating without threads. The first `skip` threads get no seat.
    pub fn new(seats: SeatList, rules: Vec<SeatRule>, skip: usize) -> Self {
        let kept: HashSet<usize> =
            rules.iter().flat_map(|rule| &rule.seats).filter_map(|seat| seat.task).collect();
        let order: Vec<usize> = seats.own.clone().filter(|task| !kept.contains(task)).collect();
        SeatAllocator {
            free: (0..order.len()).collect(),
            whole: seats.whole(),
            task_of_path: seats.paths.iter().cloned().zip(0..).collect(),
            seats,
            rules,
            strict: false,
            skip,
            order,
            round: BTreeSet::new(),
            given: 0,
            taken: HashSet::new(),
            first: None,
            guests: HashMap::new(),
            lineage: Lineage::default(),
            strangers: 0,
            leases: Leases::default(),
            met: BTreeSet::new(),
        }
    }

    /// Avoids other runs' seats, and shows them this run's.
    pub fn beside_others(self) -> Self {
        SeatAllocator { leases: Leases::on(&Root::new("/")), ..self }
    }

    /// Seats each thread and process at its creation.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The CPUs of all seats and rules. If only rules seat threads, others run anywhere, so
    /// `allowed` is included.
    pub fn cpus(&self, allowed: &CpuSet) -> CpuSet {
        let of_rules = self.rules.iter().flat_map(|rule| &rule.seats);
        let named = of_rules.fold(self.whole.clone(), |all, seat| all.with(&seat.cpus));
        if self.whole.is_empty() { named.with(allowed) } else { named }
    }

    /// A sentence for each unmatched rule: its name may be misspelt.
    pub fn unmet_rules(&self) -> Vec<String> {
        let rules = self.rules.iter().enumerate().filter(|(at, _)| !self.met.contains(at));
        rules.map(|(_, rule)| format!("--match {}: no thread matched", rule.who)).collect()
    }

    /// Whether there are rules by name.
    pub fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether tasks have paths.
    pub fn has_paths(&self) -> bool {
        !self.task_of_path.is_empty()
    }

    /// Records a creation, before creator or created take a seat.
    pub fn born(&mut self, tid: Tid, creator: Tid) {
        let is_known = self.lineage.path(creator).is_some();
        // A plan's paths begin with the first process, so a thread from outside has none.
        if self.has_paths() && (is_known || self.lineage.is_empty()) {
            self.lineage.born(tid, Some(creator));
        }
    }

    /// Whether a new thread could get a seat, or must be counted.
    pub fn order_is_open(&self) -> bool {
        match self.seats.beyond {
            Beyond::Cycle => !self.order.is_empty(),
            Beyond::Leave => !self.free.is_empty(),
        }
    }

    /// Tasks in order of creation.
    pub fn ordered_tasks(&self) -> usize {
        self.order.len()
    }

    /// The first process's task, if known before it begins.
    pub fn first_task(&self) -> Option<usize> {
        let of_path =
            self.task_of_path.get(FIRST_PATH).copied().filter(|task| self.order.contains(task));
        of_path.or(self.order.first().copied()).filter(|_| self.skip == 0)
    }

    /// Whether this is a seat's or waiting thread's mask, apart from offline CPUs.
    pub fn is_a_seat(&self, mask: &CpuSet) -> bool {
        let of_rules = self.rules.iter().flat_map(|rule| &rule.seats).map(|seat| &seat.cpus);
        let mut seats = self.seats.cpus.iter().chain([&self.whole]).chain(of_rules);
        seats.any(|seat| affinity::is_as_given(seat, mask))
    }

    /// Whether this process waits.
    pub fn waits(&self, tid: Tid) -> bool {
        self.guests.get(&tid).is_some_and(|guest| guest.waits)
    }

    /// Whether this is the first process, which takes no seat by age.
    pub fn is_first(&self, tid: Tid) -> bool {
        self.first == Some(tid)
    }

    /// Returns a new process's seat, or `None` if it waits.
    pub fn process(&mut self, tid: Tid) -> Option<SeatAssignment> {
        if self.strict || !self.order_is_open() {
            return Some(self.in_order(tid));
        }
        self.first = self.first.or(Some(tid));
        self.guests.insert(tid, Guest { waits: true, ..Guest::default() });
        None
    }

    /// Handles a new thread; returns the threads to seat.
    pub fn thread(&mut self, tid: Tid, pid: Tid) -> Vec<SeatAssignment> {
        let mut steps = self.settle(pid);
        steps.push(self.in_order(tid));
        steps
    }

    /// Ends a process's waiting; returns the threads to seat.
    pub fn settle(&mut self, tid: Tid) -> Vec<SeatAssignment> {
        let first = self.first.filter(|first| *first != tid && self.waits(tid));
        first.into_iter().chain([tid]).filter_map(|tid| self.sit_down(tid)).collect()
    }

    /// Seats an existing thread by name, or else in order.
    pub fn seat_existing(&mut self, tid: Tid, pid: Tid, name: &str) -> SeatAssignment {
        self.guests.insert(tid, Guest::default());
        match self.named(tid, pid, name) {
            SeatChange::Sit(seat) => SeatAssignment::of(tid, seat),
            SeatChange::Stay | SeatChange::Leave => match self.seat_called(tid, name) {
                Some(seat) => {
                    self.guests.insert(tid, Guest { seat: Some(seat.clone()), ..Guest::default() });
                    SeatAssignment::of(tid, seat)
                }
                None => self.in_order(tid),
            },
        }
    }

    /// Handles a thread's name.
    pub fn named(&mut self, tid: Tid, pid: Tid, name: &str) -> SeatChange {
        let Some(guest) = self.guests.get(&tid).cloned() else { return SeatChange::Stay };
        let matched: Vec<usize> =
            (0..self.rules.len()).filter(|rule| self.rules[*rule].who.is(tid, pid, name)).collect();
        self.met.extend(&matched);
        if guest.rule.is_some_and(|rule| matched.contains(&rule)) {
            return SeatChange::Stay;
        }
        let found = matched.into_iter().find_map(|rule| Some((rule, self.open_seat(rule)?)));
        match found {
            Some((rule, seat)) => self.moved(tid, &guest, rule, seat),
            None if guest.rule.is_some() => {
                self.leases.end(tid);
                self.give_up(&guest);
                self.guests.insert(tid, Guest::default());
                SeatChange::Leave
            }
            None => SeatChange::Stay,
        }
    }

    /// Handles a thread that executed a program; returns whether it starts to wait.
    pub fn executed(&mut self, former: Tid, tid: Tid) -> bool {
        if former != tid {
            let was_first = self.is_first(tid);
            self.exited(tid);
            if let Some(guest) = self.guests.remove(&former) {
                self.leases.renumber(former, tid);
                self.guests.insert(tid, guest);
                // Go programs execute from any thread.
                self.first = if was_first { Some(tid) } else { self.first };
            }
        }
        // A shell that executes the real program is not the program to seat.
        let may_wait = !self.strict && self.order_is_open();
        let Some(guest) = self.guests.get_mut(&tid) else { return false };
        let begins = may_wait && !guest.waits && guest.rule.is_none() && guest.seat.is_some();
        guest.waits |= begins;
        begins
    }

    /// Handles a thread's end.
    pub fn exited(&mut self, tid: Tid) {
        self.first = self.first.filter(|first| *first != tid);
        self.leases.end(tid);
        if let Some(Guest { seat: Some(Seat { task: Some(task), .. }), rule: Some(rule), .. }) =
            self.guests.remove(&tid)
        {
            let had_it = self.taken.remove(&(rule, task));
            invariant!(
                had_it,
                SEATS,
                "thread {tid} ends on task {task} of rule {rule}, which is free"
            );
        }
    }

    fn sit_down(&mut self, tid: Tid) -> Option<SeatAssignment> {
        let guest = self.guests.get_mut(&tid).filter(|guest| guest.waits)?;
        guest.waits = false;
        match guest.seat.clone() {
            Some(seat) => Some(SeatAssignment::of(tid, seat)),
            None => Some(self.in_order(tid)),
        }
    }

    fn in_order(&mut self, tid: Tid) -> SeatAssignment {
        let skipped = self.skip > 0;
        // The list has started again, so another thread has this seat too. Without cycling, only
        // threads that moved to a rule's seat free theirs.
        let has_gone_round = self.given >= self.order.len();
        let shares = !skipped && self.seats.beyond == Beyond::Cycle && has_gone_round;
        let seat = if skipped {
            None
        } else {
            self.seat_of_path(tid).or_else(|| self.next_for_stranger(tid))
        };
        self.skip = self.skip.saturating_sub(1);
        self.guests.insert(tid, Guest { seat: seat.clone(), ..Guest::default() });
        SeatAssignment { tid, seat, skipped, shares }
    }

    fn seat_of_path(&mut self, tid: Tid) -> Option<Seat> {
        let task = *self.task_of_path.get(&self.lineage.path(tid)?.to_string())?;
        self.take(task, tid)
    }

    /// The first free seat of a task with this name. Running programs do not show their threads'
    /// paths.
    fn seat_called(&mut self, tid: Tid, name: &str) -> Option<Seat> {
        if !self.has_paths() || self.skip > 0 {
            return None;
        }
        let called: Vec<usize> = self.seats.called(name).collect();
        called.into_iter().find_map(|task| self.take(task, tid))
    }

    fn take(&mut self, task: usize, tid: Tid) -> Option<Seat> {
        let at = self.order.iter().position(|other| *other == task)?;
        if !self.free.remove(&at) {
            return None;
        }
        self.given += 1;
        let seat = self.seats.of(task)?;
        self.leases.choose(tid, [&seat.cpus].into_iter());
        Some(seat)
    }

    fn next_for_stranger(&mut self, tid: Tid) -> Option<Seat> {
        let seat = self.next_in_order(tid);
        self.strangers += usize::from(self.has_paths() && seat.is_some());
        seat
    }

    fn next_in_order(&mut self, tid: Tid) -> Option<Seat> {
        if self.round.is_empty() {
            self.round = (0..self.order.len()).collect();
        }
        let next = match self.seats.beyond {
            Beyond::Leave => *self.free.first()?,
            Beyond::Cycle if self.seats.choices.is_empty() => {
                self.given.checked_rem(self.order.len())?
            }
            Beyond::Cycle => *self.round.first()?,
        };
        let at = self.chosen(next, tid);
        if self.seats.beyond == Beyond::Leave {
            self.free.remove(&at);
        }
        self.round.remove(&at);
        self.given += 1;
        self.seats.of(self.order[at])
    }

    fn chosen(&mut self, next: usize, tid: Tid) -> usize {
        let choice = self.seats.choice(self.order[next]);
        let left = match self.seats.beyond {
            Beyond::Leave => &self.free,
            Beyond::Cycle => &self.round,
        };
        let alike = left.range(next + 1..).filter(|at| choice.contains(&self.order[**at]));
        let positions: Vec<usize> = std::iter::once(next).chain(alike.copied()).collect();
        let seats = positions.iter().filter_map(|at| self.seats.cpus.get(self.order[*at]));
        positions[self.leases.choose(tid, seats)]
    }

    fn open_seat(&self, rule: usize) -> Option<Seat> {
        let mut seats = self.rules[rule].seats.iter();
        let is_open = |task| !self.taken.contains(&(rule, task));
        seats.find(|seat| seat.task.is_none_or(is_open)).cloned()
    }

    fn moved(&mut self, tid: Tid, guest: &Guest, rule: usize, seat: Seat) -> SeatChange {
        self.give_up(guest);
        if let Some(task) = seat.task {
            let is_free = self.taken.insert((rule, task));
            invariant!(
                is_free,
                SEATS,
                "thread {tid} gets task {task} of rule {rule}, which is taken"
            );
        }
        self.leases.choose(tid, [&seat.cpus].into_iter());
        self.guests.insert(tid, Guest { seat: Some(seat.clone()), rule: Some(rule), waits: false });
        SeatChange::Sit(seat)
    }

    fn give_up(&mut self, guest: &Guest) {
        let Some(task) = guest.seat.as_ref().and_then(|seat| seat.task) else { return };
        match guest.rule {
            Some(rule) => {
                let had_it = self.taken.remove(&(rule, task));
                invariant!(had_it, SEATS, "task {task} of rule {rule} is given up, and is free");
            }
            None => {
                let Some(at) = self.order.iter().position(|other| *other == task) else { return };
                let is_new = self.free.insert(at) || self.seats.beyond == Beyond::Cycle;
                invariant!(is_new, SEATS, "the seat of task {task} is given up, and is free");
            }
        }
    }
}

#[cfg(test)]
mod tests;
