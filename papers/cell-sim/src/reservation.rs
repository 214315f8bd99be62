//! Atomics: reserve a line, change it, and store it if no other SPE has (getllar and putllc).
//!
//! Each SPE's atomic unit keeps lines in a small cache and has a reservation on one line at a time.
//! All units snoop each other's commands, so this module keeps their caches and reservations by
//! line.

use crate::channels::{Atomic, Ea};
use crate::event::{CellBeEvent, EventOutbox};
use crate::memory::LINE_BYTES;
use crate::parameters::CellBeTiming;
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

mod programs;

/// An atomic, as the SPU requests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicRequest {
    pub kind: Atomic,
    pub at: Ea,
    pub value: u32,
}

/// The next action that an atomic unit needs from the rest of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicAction {
    /// Nothing: its cache works, and it has sent itself a message.
    Cached,
    /// The line, with a reservation.
    Reserve(Ea),
    /// The right to change the line.
    Claim(Ea),
    /// The operation in memory: its reservation was still valid.
    Done(AtomicRequest),
    /// The line in the local store: a program's getllar is complete.
    Held(Ea),
    /// A program's putllc or putlluc is complete; whether it stores the line.
    Put(Ea, bool),
}

/// The state of an atomic unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    /// The unit gets the line.
    Reserving(AtomicRequest),
    /// The unit stores the line.
    Storing(AtomicRequest),
    /// The store has failed, and the SPU waits before it begins again.
    BackingOff(AtomicRequest),
    /// The unit gets the line for a program.
    Getting(Ea),
    /// The unit stores the line for a program, if its reservation is valid or always.
    Putting(Ea, bool),
}

/// A line that atomics work on. Sets of SPEs have a bit for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct AtomicLine {
    key: (u8, u32),
    /// The units that have the line in their caches.
    sharers: u32,
    /// The unit that has changed the line, and is its only sharer.
    owner: Option<u16>,
    /// The sharer that gives the line to others: the one that changed it last, or that got it from
    /// memory.
    supplier: Option<u16>,
    /// The units that have the line reserved.
    reserved: u32,
}

impl AtomicLine {
    /// Notes that a unit has changed the line: no other one has it any more.
    fn change(&mut self, spe: u16) {
        self.sharers = 1 << spe;
        self.owner = Some(spe);
        self.supplier = Some(spe);
        self.reserved = 0;
    }

    /// Checks that an owner is the only sharer, and that a line which is reserved or supplied is in
    /// its unit's cache.
    fn check(&self, now: u64) {
        let is_alone = self.owner.is_none_or(|owner| self.sharers == 1 << owner);
        let is_kept = self.supplier.is_none_or(|supplier| self.sharers & 1 << supplier != 0);
        let is_sound = is_alone && is_kept && self.reserved & !self.sharers == 0;
        invariant!(
            is_sound,
            at_cycle("the atomic units", now),
            "a line is in a state that cannot be: {self:?}"
        );
    }
}

/// The atomic units of all SPEs.
#[derive(Clone, Debug)]
pub struct AtomicUnits {
    half: u64,
    backoff: u64,
    phases: Vec<Phase>,
    lines: Vec<AtomicLine>,
    lost: u64,
}

impl AtomicUnits {
    pub fn new(spes: usize, timing: &CellBeTiming) -> Self {
        AtomicUnits {
            half: timing.atomic_half,
            backoff: timing.atomic_backoff,
            phases: vec![Phase::Idle; spes],
            lines: Vec::new(),
            lost: 0,
        }
    }

    /// Empties caches, reservations and counts.
    pub fn reset(&mut self) {
        self.phases.fill(Phase::Idle);
        self.lines.clear();
        self.lost = 0;
    }

    /// Conditional stores that found their reservation lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Begins an SPU's atomic.
    pub fn begin(
        &mut self,
        spe: u16,
        operation: AtomicRequest,
        out: &mut EventOutbox,
    ) -> AtomicAction {
        let phase = self.phases[spe as usize];
        invariant!(
            phase == Phase::Idle,
            at_cycle(name(spe), out.now()),
            "{operation:?} is asked for during {phase:?}"
        );
        self.reserve(spe, operation, out)
    }

    fn reserve(
        &mut self,
        spe: u16,
        operation: AtomicRequest,
        out: &mut EventOutbox,
    ) -> AtomicAction {
        self.phases[spe as usize] = Phase::Reserving(operation);
        let line = self.line(operation.at);
        // A line in the unit's own cache needs no command.
        if line.sharers & 1 << spe == 0 {
            return AtomicAction::Reserve(operation.at);
        }
        line.reserved |= 1 << spe;
        self.work(spe, out)
    }

    /// Has the unit's own cache do its half of an atomic.
    fn work(&self, spe: u16, out: &mut EventOutbox) -> AtomicAction {
        out.send(out.now() + self.half, CellBeEvent::AtomicHalf(spe));
        AtomicAction::Cached
    }

    /// Gives a unit's command for a line its place in the order of commands: a later store breaks
    /// its reservation. Returns the SPE whose cache supplies the line; `None` if memory supplies
    /// it.
    ///
    /// A line that is in any atomic unit comes from there and not from memory (D. Calver, "PS3 Cell
    /// chip: SPEs each have atomic cache", 2007). Which of several sharers supplies it is not
    /// published: here the one that changed it last.
    pub fn order(&mut self, spe: u16, at: Ea, now: u64) -> Option<u16> {
        let line = self.line(at);
        // It is shared from now on.
        line.owner = None;
        let supplier = line.supplier.filter(|supplier| *supplier != spe);
        line.supplier = line.supplier.or(Some(spe));
        line.sharers |= 1 << spe;
        line.reserved |= 1 << spe;
        line.check(now);
        supplier
    }

    /// Takes the line that a unit asked for.
    pub fn receive(&mut self, spe: u16, out: &mut EventOutbox) -> AtomicAction {
        match self.phases[spe as usize] {
            Phase::Reserving(operation) => self.store(spe, operation, out),
            Phase::Getting(at) => self.held(spe, at),
            other => broken(
                at_cycle(name(spe), out.now()),
                format_args!("a line arrives during {other:?}"),
            ),
        }
    }

    /// Continues after a unit's cache has done its half.
    pub fn half_done(&mut self, spe: u16, out: &mut EventOutbox) -> AtomicAction {
        match self.phases[spe as usize] {
            Phase::Reserving(operation) => self.store(spe, operation, out),
            Phase::Storing(operation) => self.finish(spe, operation, out),
            Phase::BackingOff(operation) => self.reserve(spe, operation, out),
            Phase::Getting(at) => self.held(spe, at),
            Phase::Putting(at, is_conditional) => self.put_done(spe, at, is_conditional, out.now()),
            Phase::Idle => broken(
                at_cycle(name(spe), out.now()),
                format_args!("half an atomic is done, and none was asked for"),
            ),
        }
    }

    /// Continues after the other units have been asked to give the line up.
    pub fn claimed(&mut self, spe: u16, out: &mut EventOutbox) -> AtomicAction {
        match self.phases[spe as usize] {
            Phase::Storing(operation) => self.finish(spe, operation, out),
            Phase::Putting(at, is_conditional) => self.put_done(spe, at, is_conditional, out.now()),
            other => broken(
                at_cycle(name(spe), out.now()),
                format_args!("a claim is answered during {other:?}"),
            ),
        }
    }

    fn store(&mut self, spe: u16, operation: AtomicRequest, out: &mut EventOutbox) -> AtomicAction {
        let line = self.line(operation.at);
        if line.reserved & 1 << spe == 0 {
            // The reservation was lost before the line came: the store fails at once.
            return self.lose(spe, operation, out);
        }
        // The owner is the only sharer: nobody else has to give the line up.
        let is_owner = line.owner == Some(spe);
        self.phases[spe as usize] = Phase::Storing(operation);
        if is_owner { self.work(spe, out) } else { AtomicAction::Claim(operation.at) }
    }

    /// Stores the line if the reservation is still valid, else begins again.
    fn finish(
        &mut self,
        spe: u16,
        operation: AtomicRequest,
        out: &mut EventOutbox,
    ) -> AtomicAction {
        let line = self.line(operation.at);
        if line.reserved & 1 << spe == 0 {
            return self.lose(spe, operation, out);
        }
        // A read leaves the line as it was, with all its sharers.
        if operation.kind != Atomic::Read {
            line.change(spe);
        }
        line.check(out.now());
        self.phases[spe as usize] = Phase::Idle;
        AtomicAction::Done(operation)
    }

    /// Begins again after a store that has failed, at once unless there is a back-off.
    fn lose(&mut self, spe: u16, operation: AtomicRequest, out: &mut EventOutbox) -> AtomicAction {
        self.lost += 1;
        if self.backoff == 0 {
            return self.reserve(spe, operation, out);
        }
        self.phases[spe as usize] = Phase::BackingOff(operation);
        out.send(out.now() + self.backoff, CellBeEvent::AtomicHalf(spe));
        AtomicAction::Cached
    }

    /// Notes that a transfer wrote to a line: no cache has the line any more, and no reservation on
    /// it is valid.
    pub fn written(&mut self, at: Ea) {
        if self.lines.is_empty() {
            return;
        }
        let key = key(at);
        if let Some(line) = self.lines.iter_mut().find(|line| line.key == key) {
            (line.sharers, line.owner, line.supplier, line.reserved) = (0, None, None, 0);
        }
    }

    fn line(&mut self, at: Ea) -> &mut AtomicLine {
        let key = key(at);
        let found = self.lines.iter().position(|line| line.key == key).unwrap_or_else(|| {
            self.lines.push(AtomicLine { key, ..AtomicLine::default() });
            self.lines.len() - 1
        });
        &mut self.lines[found]
    }
}

fn name(spe: u16) -> String {
    format!("the atomic unit of SPE {spe}")
}

fn key(ea: Ea) -> (u8, u32) {
    let module = if let Ea::Memory { module, .. } = ea { module } else { u8::MAX };
    (module, ea.offset() / LINE_BYTES)
}

#[cfg(test)]
mod tests;
