//! Atomics: an SPE reserves a line, changes it, and stores it unless another SPE changed it first
//! (getllar and putllc).
//!
//! Each SPE's atomic unit keeps lines in a small cache and reserves one line at a time. All units
//! snoop each other's commands, so caches and reservations are stored by line.

use crate::channels::{Atomic, Ea};
use crate::event::{CellBeEvent, EventOutbox};
use crate::memory::LINE_BYTES;
use crate::parameters::CellBeTiming;
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

mod programs;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicRequest {
    pub kind: Atomic,
    pub at: Ea,
    pub value: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicAction {
    /// None: its cache works and sends a message when done.
    Cached,
    Reserve(Ea),
    Claim(Ea),
    /// Perform the operation in memory: the reservation was still valid.
    Done(AtomicRequest),
    Held(Ea),
    /// Complete a program's putllc or putlluc; the flag says whether it stores the line.
    Put(Ea, bool),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Reserving(AtomicRequest),
    Storing(AtomicRequest),
    BackingOff(AtomicRequest),
    Getting(Ea),
    /// The unit stores the line for a program; the flag says whether it needs a valid reservation.
    Putting(Ea, bool),
}

/// A line used by atomics. Sets of SPEs have one bit per SPE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct AtomicLine {
    key: (u8, u32),
    sharers: u32,
    /// The unit that changed the line, and is its only sharer.
    owner: Option<u16>,
    /// The sharer that supplies the line to others: the last to change it, or the one that fetched
    /// it from memory.
    supplier: Option<u16>,
    reserved: u32,
}

impl AtomicLine {
    fn change(&mut self, spe: u16) {
        self.sharers = 1 << spe;
        self.owner = Some(spe);
        self.supplier = Some(spe);
        self.reserved = 0;
    }

    /// An owner is the only sharer, and the supplier and all units with a reservation have a copy.
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

    pub fn reset(&mut self) {
        self.phases.fill(Phase::Idle);
        self.lines.clear();
        self.lost = 0;
    }

    /// Conditional stores that failed for a lost reservation.
    pub fn lost(&self) -> u64 {
        self.lost
    }

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
        if line.sharers & 1 << spe == 0 {
            return AtomicAction::Reserve(operation.at);
        }
        line.reserved |= 1 << spe;
        self.work(spe, out)
    }

    fn work(&self, spe: u16, out: &mut EventOutbox) -> AtomicAction {
        out.send(out.now() + self.half, CellBeEvent::AtomicHalf(spe));
        AtomicAction::Cached
    }

    /// Orders a unit's command for a line among the other commands: a later store breaks its
    /// reservation. Returns the SPE whose cache supplies the line, or `None` for memory.
    ///
    /// If an atomic unit has the line, it supplies it instead of memory (D. Calver, "PS3 Cell chip:
    /// SPEs each have atomic cache", 2007). No publication says which of several sharers does: in
    /// this model, the last one to change the line.
    pub fn order(&mut self, spe: u16, at: Ea, now: u64) -> Option<u16> {
        let line = self.line(at);
        line.owner = None;
        let supplier = line.supplier.filter(|supplier| *supplier != spe);
        line.supplier = line.supplier.or(Some(spe));
        line.sharers |= 1 << spe;
        line.reserved |= 1 << spe;
        line.check(now);
        supplier
    }

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
            // The reservation was lost before the line arrived, so the store fails at once.
            return self.lose(spe, operation, out);
        }
        // An owner is the only sharer and needs no claim.
        let is_owner = line.owner == Some(spe);
        self.phases[spe as usize] = Phase::Storing(operation);
        if is_owner { self.work(spe, out) } else { AtomicAction::Claim(operation.at) }
    }

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
        if operation.kind != Atomic::Read {
            line.change(spe);
        }
        line.check(out.now());
        self.phases[spe as usize] = Phase::Idle;
        AtomicAction::Done(operation)
    }

    fn lose(&mut self, spe: u16, operation: AtomicRequest, out: &mut EventOutbox) -> AtomicAction {
        self.lost += 1;
        if self.backoff == 0 {
            return self.reserve(spe, operation, out);
        }
        self.phases[spe as usize] = Phase::BackingOff(operation);
        out.send(out.now() + self.backoff, CellBeEvent::AtomicHalf(spe));
        AtomicAction::Cached
    }

    /// Records a transfer to a line, which invalidates all copies and reservations.
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
