//! Who sits where: decided from what happens to threads, without a system call.
//!
//! | event | decision |
//! |---|---|
//! | a thread is created | the next seat in order; none for those skipped, or beyond the last seat |
//! | its name is seen | the first free task of the first rule that fits; a name that no longer fits gives its task back |
//! | it exits | a rule's task is free again; a seat taken in order is not, so that thread k stays task k |
//! | it executes a program | it keeps its seat, even where the kernel gives it another number |
//!
//! Tasks that stand in a rule are kept for the rule. A thread that leaves a seat taken in order for a rule's leaves it to
//! the next thread created, unless the list cycles.

use crate::mask::Tid;
use crate::rule::Rule;
use crate::seats::{Beyond, Seat, Seats};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is to be done with a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Nothing.
    Stay,
    /// It sits down here.
    Sit(Seat),
    /// It leaves its seat, and has none.
    Leave,
}

/// A thread that lives.
#[derive(Clone, Copy, Debug, Default)]
struct Guest {
    seat: Option<Seat>,
    /// The rule that gave it the seat; `None` where it was taken in order.
    rule: Option<usize>,
}

/// The state of the room.
#[derive(Clone, Debug)]
pub struct Seating {
    seats: Seats,
    rules: Vec<Rule>,
    /// Threads still to be skipped.
    skip: usize,
    /// The tasks given in order of creation.
    order: Vec<usize>,
    /// Positions in `order` that are free.
    free: BTreeSet<usize>,
    /// How many seats a cycling list has given.
    given: usize,
    /// Tasks that a rule has given.
    taken: HashSet<usize>,
    guests: HashMap<Tid, Guest>,
}

impl Seating {
    /// An empty room. The first `skip` threads get no seat.
    #[must_use]
    pub fn new(seats: Seats, rules: Vec<Rule>, skip: usize) -> Self {
        let kept: HashSet<usize> = rules.iter().flat_map(|rule| rule.tasks.iter().copied()).collect();
        let order: Vec<usize> = (0..seats.cpus.len()).filter(|task| !kept.contains(task)).collect();
        let free = (0..order.len()).collect();
        Seating { seats, rules, skip, order, free, given: 0, taken: HashSet::new(), guests: HashMap::new() }
    }

    /// The seats.
    #[must_use]
    pub fn seats(&self) -> &Seats {
        &self.seats
    }

    /// Whether there are rules, so that names matter.
    #[must_use]
    pub fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether a thread created now could get a seat, or must be counted.
    #[must_use]
    pub fn order_is_open(&self) -> bool {
        match self.seats.beyond {
            Beyond::Cycle => !self.order.is_empty(),
            Beyond::Leave => !self.free.is_empty(),
        }
    }

    /// How many tasks are given in order of creation.
    #[must_use]
    pub fn ordered_tasks(&self) -> usize {
        self.order.len()
    }

    /// Whether threads wait to be skipped still.
    #[must_use]
    pub fn skips_next(&self) -> bool {
        self.skip > 0
    }

    /// Whether this is the CPU of a seat.
    #[must_use]
    pub fn has_seat_on(&self, cpu: u32) -> bool {
        self.seats.cpus.contains(&cpu)
    }

    /// A thread was created: the seat that it gets in order.
    pub fn created(&mut self, tid: Tid) -> Option<Seat> {
        let seat = if self.skip > 0 { None } else { self.next_in_order() };
        self.skip = self.skip.saturating_sub(1);
        self.guests.insert(tid, Guest { seat, rule: None });
        seat
    }

    /// A thread that exists already, of which everything is known: a rule's seat, or the next in order.
    pub fn found(&mut self, tid: Tid, pid: Tid, name: &str) -> Option<Seat> {
        self.guests.insert(tid, Guest::default());
        match self.named(tid, pid, name) {
            Move::Sit(seat) => Some(seat),
            Move::Stay | Move::Leave => self.created(tid),
        }
    }

    /// A thread's name was seen: whether that moves it.
    pub fn named(&mut self, tid: Tid, pid: Tid, name: &str) -> Move {
        let Some(guest) = self.guests.get(&tid).copied() else { return Move::Stay };
        let fits = |rule: &Rule| rule.who.is(tid, pid, name);
        if guest.rule.is_some_and(|rule| fits(&self.rules[rule])) {
            return Move::Stay;
        }
        let open = |rule: &Rule| rule.tasks.iter().copied().find(|task| !self.taken.contains(task));
        let found =
            self.rules.iter().enumerate().filter(|(_, rule)| fits(rule)).find_map(|(at, rule)| Some((at, open(rule)?)));
        match found {
            Some((rule, task)) => self.moved(tid, guest, rule, task),
            None if guest.rule.is_some() => {
                self.give_up(guest);
                self.guests.insert(tid, Guest::default());
                Move::Leave
            }
            None => Move::Stay,
        }
    }

    /// A thread executed a program, and with it became its process's first thread; all others of the process are gone.
    pub fn became(&mut self, former: Tid, tid: Tid) {
        if former != tid {
            self.exited(tid);
            if let Some(guest) = self.guests.remove(&former) {
                self.guests.insert(tid, guest);
            }
        }
    }

    /// A thread is gone.
    pub fn exited(&mut self, tid: Tid) {
        if let Some(Guest { seat: Some(seat), rule: Some(_) }) = self.guests.remove(&tid) {
            self.taken.remove(&seat.task);
        }
    }

    fn next_in_order(&mut self) -> Option<Seat> {
        let at = match self.seats.beyond {
            Beyond::Leave => self.free.pop_first()?,
            Beyond::Cycle => self.given.checked_rem(self.order.len())?,
        };
        self.given += 1;
        self.seats.of(self.order[at])
    }

    fn moved(&mut self, tid: Tid, guest: Guest, rule: usize, task: usize) -> Move {
        let Some(seat) = self.seats.of(task) else { return Move::Stay };
        self.give_up(guest);
        self.taken.insert(task);
        self.guests.insert(tid, Guest { seat: Some(seat), rule: Some(rule) });
        Move::Sit(seat)
    }

    fn give_up(&mut self, guest: Guest) {
        match (guest.seat, guest.rule) {
            (Some(seat), Some(_)) => {
                self.taken.remove(&seat.task);
            }
            (Some(seat), None) => self.free.extend(self.order.iter().position(|task| *task == seat.task)),
            (None, _) => {}
        }
    }
}

#[cfg(test)]
mod tests;
