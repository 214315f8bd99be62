//! The halves of an atomic in C programs: getllar, then putllc or putlluc.

use super::{AtomicAction, AtomicUnits, Phase, name};
use crate::channels::Ea;
use crate::event::EventOutbox;
use seatmap_data::invariant;
use seatmap_sim::moment::at_cycle;

impl AtomicUnits {
    pub fn is_idle(&self, spe: u16) -> bool {
        self.phases[spe as usize] == Phase::Idle
    }

    pub fn get(&mut self, spe: u16, at: Ea, out: &mut EventOutbox) -> AtomicAction {
        invariant!(
            self.is_idle(spe),
            at_cycle(name(spe), out.now()),
            "a getllar during {:?}",
            self.phases[spe as usize]
        );
        self.phases[spe as usize] = Phase::Getting(at);
        self.forget(spe);
        let line = self.line(at);
        if line.sharers & 1 << spe == 0 {
            return AtomicAction::Reserve(at);
        }
        line.reserved |= 1 << spe;
        self.work(spe, out)
    }

    /// Starts a putllc (`is_conditional`) or a putlluc.
    pub fn put(
        &mut self,
        spe: u16,
        at: Ea,
        is_conditional: bool,
        out: &mut EventOutbox,
    ) -> AtomicAction {
        invariant!(
            self.is_idle(spe),
            at_cycle(name(spe), out.now()),
            "a putllc during {:?}",
            self.phases[spe as usize]
        );
        let line = self.line(at);
        let is_owner = line.owner == Some(spe);
        if is_conditional && line.reserved & 1 << spe == 0 {
            self.lost += 1;
            return AtomicAction::Put(at, false);
        }
        self.phases[spe as usize] = Phase::Putting(at, is_conditional);
        if is_owner { self.work(spe, out) } else { AtomicAction::Claim(at) }
    }

    pub(super) fn held(&mut self, spe: u16, at: Ea) -> AtomicAction {
        self.phases[spe as usize] = Phase::Idle;
        AtomicAction::Held(at)
    }

    pub(super) fn put_done(
        &mut self,
        spe: u16,
        at: Ea,
        is_conditional: bool,
        now: u64,
    ) -> AtomicAction {
        self.phases[spe as usize] = Phase::Idle;
        let line = self.line(at);
        if is_conditional && line.reserved & 1 << spe == 0 {
            self.lost += 1;
            return AtomicAction::Put(at, false);
        }
        line.change(spe);
        line.check(now);
        AtomicAction::Put(at, true)
    }

    pub fn has_reserved(&self, spe: u16, at: Ea) -> bool {
        let key = super::key(at);
        self.lines.iter().any(|line| line.key == key && line.reserved & 1 << spe != 0)
    }

    /// Drops a unit's reservation, because it reserves another line or the PPE wrote to this one.
    pub fn forget(&mut self, spe: u16) {
        self.lines.iter_mut().for_each(|line| line.reserved &= !(1 << spe));
    }
}
