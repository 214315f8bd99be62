//! Decides which thread sits where, from the events of threads. Only the seats of other runs are
//! asked from the kernel (`Leases`).
//!
//! | event | decision |
//! |---|---|
//! | a process begins | it waits on the whole set of CPUs, so that it reads the right number |
//! | a thread is created | its process sits down if it waits; the thread takes the next seat |
//! | a process has lived for a while | it takes the next seat; a helper that ends before has none |
//! | a name is seen | the first free seat of the first rule that fits |
//! | a name fits no longer | the thread returns its seat |
//! | the same, with paths in the plan | the task with the thread's path, else the next seat |
//! | a thread exits | a rule's task is free again; other seats are not: thread k stays task k |
//! | a program is executed | its thread, even renumbered, keeps its seat, and waits on all CPUs |
//!
//! The program's first process waits until other threads have seats, however long that takes. A
//! strict seating has no waiting: each thread and process takes its seat when it is created.
//!
//! Tasks that stand in a rule are kept for rules. A thread that leaves a seat taken in order for a
//! rule's leaves it to the next thread created, unless the list cycles.
//!
//! Where the list leaves a choice ([`SeatList::choices`]), the next seat in order is the next free
//! one: seats of other runs come last, in each round of a list that cycles.

use crate::leases::Leases;
use crate::lineage::Lineage;
use crate::rule::SeatRule;
use crate::seats::{Beyond, Seat, SeatList};
use seatmap_data::invariant;
use seatmap_os::{CpuSet, Root, Tid, affinity};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A thread that sits down, or that gets no seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatAssignment {
    /// Which thread.
    pub tid: Tid,
    /// Its seat; `None` for one that is skipped, or beyond the last seat.
    pub seat: Option<Seat>,
    /// Whether it was skipped.
    pub skipped: bool,
    /// Whether its seat was given before: the list has started again.
    pub shares: bool,
}

/// The change that a name brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatChange {
    /// The thread stays where it is.
    Stay,
    /// The thread sits down here.
    Sit(Seat),
    /// The thread leaves its seat, and has none.
    Leave,
}

/// A thread that lives.
#[derive(Clone, Debug, Default)]
struct Guest {
    seat: Option<Seat>,
    /// The rule that gave it the seat; `None` where it was taken in order.
    rule: Option<usize>,
    /// Whether it runs on the whole set for now.
    waits: bool,
}

/// The state of the room.
#[derive(Debug)]
pub struct SeatAllocator {
    seats: SeatList,
    whole: CpuSet,
    rules: Vec<SeatRule>,
    strict: bool,
    /// Threads still to be skipped.
    skip: usize,
    /// The tasks given in order of creation.
    order: Vec<usize>,
    /// Positions in `order` that are free.
    free: BTreeSet<usize>,
    /// Positions in `order` that a cycling list with choices has not given since it began again.
    round: BTreeSet<usize>,
    /// The number of seats that a cycling list has given.
    given: usize,
    /// Tasks that a rule has given out, each with the rule: two rules may share a task.
    taken: HashSet<(usize, usize)>,
    /// The program's first process.
    first: Option<Tid>,
    guests: HashMap<Tid, Guest>,
    /// The task of each path, where the plan has paths.
    task_of_path: HashMap<String, usize>,
    lineage: Lineage<Tid>,
    /// Threads that took the next seat in order, as the plan has no task of their path.
    strangers: usize,
    leases: Leases,
    /// The rules that a thread fitted, also where it got no seat of theirs.
    met: BTreeSet<usize>,
}

/// The name of this part in a report of a mistake.
const SEATS: &str = "seats in order";

/// The path of the program's first process.
const FIRST_PATH: &str = "0";

impl SeatAllocator {
    /// A seating without threads. The first `skip` threads get no seat.
    #[must_use]
    pub fn new(seats: SeatList, rules: Vec<SeatRule>, skip: usize) -> Self {
        let kept: HashSet<usize> =
            rules.iter().flat_map(|rule| &rule.seats).filter_map(|seat| seat.task).collect();
        let order: Vec<usize> = seats.own.clone().filter(|task| !kept.contains(task)).collect();
        let free = (0..order.len()).collect();
        let taken = HashSet::new();
        let first = None;
        let guests = HashMap::new();
        let whole = seats.whole();
        let task_of_path = seats.paths.iter().cloned().zip(0..).collect();
        let lineage = Lineage::default();
        let strangers = 0;
        let given = 0;
        let round = BTreeSet::new();
        let leases = Leases::none();
        let met = BTreeSet::new();
        SeatAllocator {
            met,
            seats,
            whole,
            rules,
            strict: false,
            skip,
            order,
            free,
            round,
            given,
            taken,
            first,
            guests,
            task_of_path,
            lineage,
            strangers,
            leases,
        }
    }

    /// Looks at the seats of other runs, and lets them see those of this one.
    #[must_use]
    pub fn beside_others(self) -> Self {
        SeatAllocator { leases: Leases::on(&Root::new("/")), ..self }
    }

    /// The seats of other runs, as far as they were asked for.
    #[must_use]
    pub(crate) fn leases(&self) -> &Leases {
        &self.leases
    }

    /// Seats each thread and process when it is created, and lets none wait.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The seats.
    #[must_use]
    pub fn seats(&self) -> &SeatList {
        &self.seats
    }

    /// All CPUs of all seats: threads that have not sat down yet wait there.
    #[must_use]
    pub fn whole(&self) -> &CpuSet {
        &self.whole
    }

    /// The CPUs that threads run on: those of all seats and of all rules, and, where threads are
    /// seated by rules alone, those that this process may use, as others run anywhere.
    #[must_use]
    pub fn cpus(&self, allowed: &CpuSet) -> CpuSet {
        let of_rules = self.rules.iter().flat_map(|rule| &rule.seats);
        let named = of_rules.fold(self.whole.clone(), |all, seat| all.with(&seat.cpus));
        if self.whole.is_empty() { named.with(allowed) } else { named }
    }

    /// A sentence about each rule that no thread fitted: a name may be misspelt.
    #[must_use]
    pub fn unmet_rules(&self) -> Vec<String> {
        let rules = self.rules.iter().enumerate().filter(|(at, _)| !self.met.contains(at));
        rules.map(|(_, rule)| format!("--match {}: no thread fitted it", rule.who)).collect()
    }

    /// Whether there are rules, so that names matter.
    #[must_use]
    pub fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether tasks have paths, so that it matters which thread creates another.
    #[must_use]
    pub fn has_paths(&self) -> bool {
        !self.task_of_path.is_empty()
    }

    /// The number of threads that took a seat in order, as the plan has no free task of their path.
    #[must_use]
    pub fn strangers(&self) -> usize {
        self.strangers
    }

    /// Notes which thread created another, or began the program, before either of them sits down.
    /// Each creation counts, as each does while a program is observed.
    pub fn born(&mut self, tid: Tid, creator: Tid) {
        let is_known = self.lineage.path(creator).is_some();
        // A plan's paths begin with the program's first process, so that a thread that came from
        // elsewhere has none of them.
        if self.has_paths() && (is_known || self.lineage.is_empty()) {
            self.lineage.born(tid, Some(creator));
        }
    }

    /// Whether a thread created now could get a seat, or must be counted.
    #[must_use]
    pub fn order_is_open(&self) -> bool {
        match self.seats.beyond {
            Beyond::Cycle => !self.order.is_empty(),
            Beyond::Leave => !self.free.is_empty(),
        }
    }

    /// The number of tasks given in order of creation.
    #[must_use]
    pub fn ordered_tasks(&self) -> usize {
        self.order.len()
    }

    /// The task of the program's first process, where it is known before that begins: it takes the
    /// first seat in order.
    #[must_use]
    pub fn first_task(&self) -> Option<usize> {
        let of_path =
            self.task_of_path.get(FIRST_PATH).copied().filter(|task| self.order.contains(task));
        of_path.or(self.order.first().copied()).filter(|_| self.skip == 0)
    }

    /// Whether this is the mask of a seat, or of the waiting threads, but for CPUs that are
    /// offline.
    #[must_use]
    pub fn is_a_seat(&self, mask: &CpuSet) -> bool {
        let of_rules = self.rules.iter().flat_map(|rule| &rule.seats).map(|seat| &seat.cpus);
        let mut seats = self.seats.cpus.iter().chain([&self.whole]).chain(of_rules);
        seats.any(|seat| affinity::is_as_given(seat, mask))
    }

    /// Whether this process waits on the whole set.
    #[must_use]
    pub fn waits(&self, tid: Tid) -> bool {
        self.guests.get(&tid).is_some_and(|guest| guest.waits)
    }

    /// Whether this is the program's first process, which does not sit down however long it waits.
    #[must_use]
    pub fn is_first(&self, tid: Tid) -> bool {
        self.first == Some(tid)
    }

    /// Handles the begin of a process. Returns its seat, or `None` where it waits.
    pub fn process(&mut self, tid: Tid) -> Option<SeatAssignment> {
        if self.strict || !self.order_is_open() {
            return Some(self.in_order(tid));
        }
        self.first = self.first.or(Some(tid));
        self.guests.insert(tid, Guest { waits: true, ..Guest::default() });
        None
    }

    /// Handles the creation of a thread in this process. Returns the threads that sit down now, in
    /// this order.
    pub fn thread(&mut self, tid: Tid, pid: Tid) -> Vec<SeatAssignment> {
        let mut steps = self.settle(pid);
        steps.push(self.in_order(tid));
        steps
    }

    /// Ends the waiting of a process. Returns the threads that sit down now: the program's first
    /// process before all others.
    pub fn settle(&mut self, tid: Tid) -> Vec<SeatAssignment> {
        let first = self.first.filter(|first| *first != tid && self.waits(tid));
        first.into_iter().chain([tid]).filter_map(|tid| self.sit_down(tid)).collect()
    }

    /// Seats a thread that exists already, with its name known: a rule's seat, or the next in
    /// order.
    pub fn seat_existing(&mut self, tid: Tid, pid: Tid, name: &str) -> SeatAssignment {
        self.guests.insert(tid, Guest::default());
        match self.named(tid, pid, name) {
            SeatChange::Sit(seat) => {
                SeatAssignment { tid, seat: Some(seat), skipped: false, shares: false }
            }
            SeatChange::Stay | SeatChange::Leave => match self.seat_called(tid, name) {
                Some(seat) => self.seated(tid, seat),
                None => self.in_order(tid),
            },
        }
    }

    /// Handles a thread's name. Returns whether the name moves the thread.
    pub fn named(&mut self, tid: Tid, pid: Tid, name: &str) -> SeatChange {
        let Some(guest) = self.guests.get(&tid).cloned() else { return SeatChange::Stay };
        let rules = self.rules.iter().enumerate();
        self.met.extend(rules.filter(|(_, rule)| rule.who.is(tid, pid, name)).map(|(at, _)| at));
        if guest.rule.is_some_and(|rule| self.rules[rule].who.is(tid, pid, name)) {
            return SeatChange::Stay;
        }
        let fitting = self.rules.iter().enumerate().filter(|(_, rule)| rule.who.is(tid, pid, name));
        let found = fitting.filter_map(|(at, rule)| Some((at, self.open_seat(at, rule)?))).next();
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

    /// Handles a thread that executed a program, and with that became its process's first thread;
    /// all others of the process are gone. Returns whether it waits on the whole set from now on,
    /// and did not before.
    pub fn executed(&mut self, former: Tid, tid: Tid) -> bool {
        if former != tid {
            // The kernel has ended all other threads of the process, its first one among them.
            let was_first = self.is_first(tid);
            self.exited(tid);
            if let Some(guest) = self.guests.remove(&former) {
                self.leases.renumber(former, tid);
                self.guests.insert(tid, guest);
                // A process stays the first one, whichever of its threads executes: programs in Go
                // execute from any of them.
                self.first = if was_first { Some(tid) } else { self.first };
            }
        }
        // A shell that executes the program proper is not yet what is to be seated.
        let may_wait = !self.strict && self.order_is_open();
        let Some(guest) = self.guests.get_mut(&tid) else { return false };
        let begins = may_wait && !guest.waits && guest.rule.is_none() && guest.seat.is_some();
        guest.waits |= begins;
        begins
    }

    /// A thread is gone.
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

    /// Ends the waiting of a process, on the seat that it has kept or the next in order.
    fn sit_down(&mut self, tid: Tid) -> Option<SeatAssignment> {
        let guest = self.guests.get_mut(&tid).filter(|guest| guest.waits)?;
        guest.waits = false;
        match guest.seat.clone() {
            Some(seat) => {
                Some(SeatAssignment { tid, seat: Some(seat), skipped: false, shares: false })
            }
            None => Some(self.in_order(tid)),
        }
    }

    fn in_order(&mut self, tid: Tid) -> SeatAssignment {
        let skipped = self.skip > 0;
        // The list has gone round: another thread has this seat as well. A list that ends gives a
        // seat again only where a thread has left it for a rule's.
        let has_gone_round = self.given >= self.order.len();
        let shares = !skipped && self.seats.beyond == Beyond::Cycle && has_gone_round;
        let seat = if skipped {
            None
        } else {
            self.seat_of_path(tid).or_else(|| self.next_for_stranger(tid))
        };
        self.skip = self.skip.saturating_sub(1);
        self.guests.insert(tid, Guest { seat: seat.clone(), rule: None, waits: false });
        SeatAssignment { tid, seat, skipped, shares }
    }

    /// The seat of the task that came to be as this thread did, if nobody has it.
    fn seat_of_path(&mut self, tid: Tid) -> Option<Seat> {
        let task = *self.task_of_path.get(&self.lineage.path(tid)?.to_string())?;
        self.take(task, tid)
    }

    /// The first free seat of the tasks that were seen with this name, in a plan of an observed
    /// program: a program that runs already does not say how its threads came to be.
    fn seat_called(&mut self, tid: Tid, name: &str) -> Option<Seat> {
        if !self.has_paths() || self.skip > 0 {
            return None;
        }
        let called: Vec<usize> = self.seats.called(name).collect();
        called.into_iter().find_map(|task| self.take(task, tid))
    }

    /// The seat of a task that is given in order and free.
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

    fn seated(&mut self, tid: Tid, seat: Seat) -> SeatAssignment {
        let seat = Some(seat);
        self.guests.insert(tid, Guest { seat: seat.clone(), rule: None, waits: false });
        SeatAssignment { tid, seat, skipped: false, shares: false }
    }

    /// The next seat in order for a thread that the plan does not know.
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

    /// This position, or a free one among those that are as good and not yet given.
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

    /// The first seat of a rule that has room.
    fn open_seat(&self, at: usize, rule: &SeatRule) -> Option<Seat> {
        rule.seats
            .iter()
            .find(|seat| seat.task.is_none_or(|task| !self.taken.contains(&(at, task))))
            .cloned()
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
                // A list that cycles gives a seat to several threads.
                let is_new = self.free.insert(at) || self.seats.beyond == Beyond::Cycle;
                invariant!(is_new, SEATS, "the seat of task {task} is given up, and is free");
            }
        }
    }
}

#[cfg(test)]
mod tests;
