//! The assignment of SPEs to contexts.
//!
//! A context takes an SPE when it first runs, and keeps it until another context needs it, as the
//! Cell's kernel does. It gives up its SPE only if its program has stopped and its transfers are
//! complete.

use super::{CellBeMachine, TaskElement};
use crate::event::CellBeEvent;
use crate::session::SessionCall;

impl CellBeMachine {
    /// Runs a context once it has an SPE, until its program stops.
    pub(super) fn run(&mut self, task: u16, context: u16, is_fresh: bool) {
        if self.context_of(context).runner.is_some() || !self.take_seat(context) {
            return;
        }
        self.context_of(context).runner = Some(task);
        if let Some(spe) = self.context_of(context).seat {
            self.programs.accounts[spe as usize].runs += 1;
        }
        let cycles = if is_fresh { self.timing.thread } else { self.timing.mailbox_call };
        self.out.send(self.out.now() + cycles, CellBeEvent::Resume(context));
    }

    pub fn stopped(&mut self, context: u16, is_end: bool) {
        let now = self.out.now();
        let state = self.context_of(context);
        let runner = state.runner.take();
        let seat = state.seat;
        if let (true, Some(spe)) = (is_end, seat) {
            state.stalled_entries.clear();
            self.spes[spe as usize].mfc.close_lists();
            self.spes[spe as usize].mfc.give_up(now);
        }
        if let Some(runner) = runner {
            self.end_call(runner, 0, 0);
        }
        self.nudge_threads();
    }

    pub(super) fn take_seat(&mut self, context: u16) -> bool {
        let state = self.context_of(context);
        if state.seat.is_some() {
            return true;
        }
        let (wish, chip) = state.wish;
        let wish = wish.filter(|wish| self.can_be_left(*wish));
        let near =
            chip.and_then(|chip| self.free_seat(|spe| self.spes[spe as usize].node().chip == chip));
        let Some(spe) = wish.or(near).or_else(|| self.free_seat(|_| true)) else { return false };
        if let Some(other) = self.spes[spe as usize].seated() {
            self.leave_seat(other);
        }
        self.spes[spe as usize].seat(Some(context));
        self.tasks[context as usize].seat = TaskElement::Spe(spe);
        self.context_of(context).seat = Some(spe);
        true
    }

    fn free_seat(&self, is_wanted: impl Fn(u16) -> bool) -> Option<u16> {
        let mut seats = self.programs.seats.iter().copied().filter(|spe| is_wanted(*spe));
        let free = seats.clone().find(|spe| self.spes[*spe as usize].seated().is_none());
        free.or_else(|| seats.find(|spe| self.can_be_left(*spe)))
    }

    fn can_be_left(&self, spe: u16) -> bool {
        self.spes[spe as usize].seated().is_none_or(|context| self.is_quiet(context))
    }

    pub(super) fn is_quiet(&self, context: u16) -> bool {
        let Some(state) = self.programs.context(context) else { return true };
        state.runner.is_none()
            && !state.seat.is_some_and(|spe| {
                !self.spes[spe as usize].mfc.is_idle() || !self.atomics.is_idle(spe)
            })
    }

    fn leave_seat(&mut self, context: u16) {
        self.tasks[context as usize].seat = TaskElement::Stored;
        if let Some(spe) = self.context_of(context).seat.take() {
            self.atomics.forget(spe);
            self.spes[spe as usize].seat(None);
        }
    }

    pub(super) fn remove_context(&mut self, context: u16) {
        if self.programs.context(context).is_some() {
            self.leave_seat(context);
            self.programs.process.remove(context);
            self.remove_task(context);
            self.nudge_threads();
        }
    }

    pub fn waits_for_seat(&self, call: SessionCall) -> bool {
        let context = match call {
            SessionCall::Run { context, .. } | SessionCall::Proxy(context, _) => {
                self.programs.context(context)
            }
            _ => None,
        };
        context.is_some_and(|context| context.seat.is_none())
    }
}
