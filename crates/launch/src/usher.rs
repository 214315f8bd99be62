//! Leads threads to their seats, and looks whether they still sit there.

use crate::allowance::Allowance;
use crate::mask::{Mask, Tid};
use crate::record::Trouble;
use crate::roll::Roll;
use crate::seating::{Move, Seating};
use crate::seats::Seat;
use crate::task::{self, Task};
use std::io;
use std::time::Duration;

/// Last looks at once, and the time that earns one more: at some 20 us a look, a twentieth of it.
const LAST_LOOKS: u32 = 256;
const LAST_LOOKS_PACE: Duration = Duration::from_micros(400);

/// How a thread came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Stopped before its first instruction.
    Newborn,
    /// Found in `/proc`, after it had begun to run.
    Late,
}

/// The decisions of a [`Seating`], carried out.
#[derive(Debug)]
pub(crate) struct Usher {
    pub seating: Seating,
    pub roll: Roll,
    /// What a thread without a seat gets back: the launcher's own mask.
    own: Mask,
    /// For looks at threads that have ended, during which the program waits.
    allowance: Allowance,
}

impl Usher {
    pub fn new(seating: Seating, own: Mask) -> Self {
        Usher { seating, roll: Roll::default(), own, allowance: Allowance::new(LAST_LOOKS, LAST_LOOKS_PACE) }
    }

    /// A thread is there: it is seated, or freed of the seat that it inherited.
    pub fn arrive(&mut self, tid: Tid, how: Arrival) {
        if self.roll.living(tid).is_some() {
            return;
        }
        let skipped = self.seating.skips_next();
        let seat = self.seating.created(tid);
        self.roll.enter(tid, seat, skipped, how == Arrival::Late);
        match seat {
            Some(seat) => self.sit(tid, seat),
            None => self.free(tid),
        }
    }

    /// A thread of a process that runs already.
    pub fn meet(&mut self, tid: Tid, pid: Tid) {
        let Some(task) = Task::of(tid) else { return };
        let skipped = self.seating.skips_next();
        let seat = self.seating.found(tid, pid, &task.name);
        self.roll.enter(tid, seat, skipped && seat.is_none(), true);
        if let Some(seat) = seat {
            self.sit(tid, seat);
        }
        self.look(tid, false);
    }

    /// Looks at a thread: its name, its mask, where it ran. Whether anything about it is new. That one is gone is told by
    /// the gate if it `is_traced`: it may go by another number now.
    pub fn look(&mut self, tid: Tid, is_traced: bool) -> bool {
        let Some(task) = Task::of(tid) else {
            if !is_traced {
                self.gone(tid);
            }
            return true;
        };
        if self.replaced(tid, &task) {
            self.gone(tid);
            return true;
        }
        let renamed = self.note_name(tid, &task);
        if self.move_by_name(tid, &task.name) {
            // What was read of it is from before it moved.
            return true;
        }
        self.check(tid, &task);
        renamed
    }

    /// Looks a last time, at a thread that has ended and has not been buried. Where threads end by the thousand not every
    /// one is looked at.
    pub fn last_look(&mut self, tid: Tid) {
        if self.roll.record(tid).is_none() || !self.allowance.take() {
            return;
        }
        let Some(task) = Task::of(tid) else { return };
        self.note_name(tid, &task);
        self.check(tid, &task);
        self.process_of(tid);
    }

    /// A thread executed a program: it has its process's number now, and keeps its seat.
    pub fn become_leader(&mut self, former: Tid, tid: Tid) {
        self.seating.became(former, tid);
        if former != tid {
            self.forgive(tid, former);
            self.roll.strike(tid);
            self.roll.renumber(former, tid);
        }
    }

    /// A look at a thread that has just been replaced by another saw the other's mask.
    fn forgive(&mut self, tid: Tid, other: Tid) {
        let Some(cpu) = self.roll.living(other).and_then(|living| living.seat).map(|seat| seat.cpu) else { return };
        if let Some(record) = self.roll.record(tid) {
            record.trouble.take_if(|trouble| matches!(trouble, Trouble::Changed { to, .. } if to.0 == [cpu]));
        }
    }

    /// A thread is gone.
    pub fn gone(&mut self, tid: Tid) {
        self.seating.exited(tid);
        self.roll.strike(tid);
    }

    /// The process of a thread, asked for once.
    pub fn process_of(&mut self, tid: Tid) -> Option<Tid> {
        if let Some(pid) = self.roll.living(tid)?.pid {
            return Some(pid);
        }
        let (pid, _) = task::process_and_tracer(tid)?;
        if let Some(living) = self.roll.living(tid) {
            living.pid = Some(pid);
        }
        if let Some(record) = self.roll.record(tid) {
            record.pid = Some(pid);
        }
        Some(pid)
    }

    fn sit(&mut self, tid: Tid, seat: Seat) {
        let mask = Mask::single(seat.cpu);
        let given = mask.give(tid);
        let Some(record) = self.roll.record(tid) else { return };
        match given.map(|()| Mask::of(tid)) {
            Ok(Ok(found)) if found != mask => {
                record.trouble = Some(Trouble::Changed { cpu: seat.cpu, to: found.cpus() });
            }
            // One that is gone since had what it was given.
            Ok(_) => record.confirmed = true,
            // It was gone before, and sat nowhere.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => record.trouble = Some(refused(seat.cpu, &error)),
        }
    }

    /// A thread inherits its creator's mask. One that has no seat must not share its creator's; a mask that the program
    /// chose itself is left alone.
    fn free(&self, tid: Tid) {
        let inherited = Mask::of(tid).ok().filter(|mask| *mask != self.own).and_then(|mask| mask.only());
        if inherited.is_some_and(|cpu| self.seating.has_seat_on(cpu)) {
            // Where this fails the thread is gone.
            let _ = self.own.give(tid);
        }
    }

    fn replaced(&mut self, tid: Tid, task: &Task) -> bool {
        let Some(living) = self.roll.living(tid) else { return true };
        *living.started_ticks.get_or_insert(task.started_ticks) != task.started_ticks
    }

    fn note_name(&mut self, tid: Tid, task: &Task) -> bool {
        let Some(record) = self.roll.record(tid).filter(|record| record.name != task.name) else { return false };
        record.name.clone_from(&task.name);
        true
    }

    fn move_by_name(&mut self, tid: Tid, name: &str) -> bool {
        if !self.seating.has_rules() {
            return false;
        }
        let pid = self.process_of(tid).unwrap_or(tid);
        match self.seating.named(tid, pid, name) {
            Move::Stay => false,
            Move::Sit(seat) => {
                self.roll.sits(tid, Some(seat));
                self.sit(tid, seat);
                true
            }
            Move::Leave => {
                self.roll.sits(tid, None);
                self.free(tid);
                true
            }
        }
    }

    fn check(&mut self, tid: Tid, task: &Task) {
        let Some(seat) = self.roll.living(tid).and_then(|living| living.seat) else { return };
        let Ok(mask) = Mask::of(tid) else { return };
        if mask == Mask::single(seat.cpu) {
            return self.note_cpu(tid, task);
        }
        if let Some(record) = self.roll.record(tid).filter(|record| record.trouble.is_none()) {
            record.trouble = Some(Trouble::Changed { cpu: seat.cpu, to: mask.cpus() });
        }
    }

    /// A thread that has slept since it was seated, or is just waking, still shows the CPU that it fell asleep on.
    fn note_cpu(&mut self, tid: Tid, task: &Task) {
        let Some(record) = self.roll.record(tid) else { return };
        let Some(seat) = record.seat else { return };
        let elsewhere = |task: &Task| task.cpu != seat.cpu;
        let runs_elsewhere = |task: &Task| elsewhere(task) && task.state == 'R';
        let strays = runs_elsewhere(task) && Task::of(tid).is_some_and(|again| runs_elsewhere(&again));
        if (strays || !elsewhere(task)) && !record.seen_on.contains(&task.cpu) {
            record.seen_on.push(task.cpu);
        }
    }
}

fn refused(cpu: u32, error: &io::Error) -> Trouble {
    Trouble::Refused { cpu, reason: error.to_string() }
}
