//! Programs that wait for a change of memory without a call.
//!
//! A spinning SPU looks again when bytes have arrived in its local store: after the first arrival,
//! then after two more, four, and so on, because one transfer arrives in many lines. It looks at
//! once if no other event is pending.

use super::CellBeMachine;
use crate::channels::Ea;
use crate::session::SessionCall;
use crate::session::context::SpinningProgram;

const MOST_PATIENCE: u64 = 256;

impl CellBeMachine {
    pub(super) fn await_store(&mut self, task: u16) {
        if self.context_of(task).spinning.is_some() {
            return;
        }
        let number = self.programs.process.number_of(task);
        let context = self.context_of(task);
        context.patience = (2 * context.patience).clamp(1, MOST_PATIENCE);
        let seen = context.arrivals;
        let until = context.arrivals + context.patience;
        context.spinning = Some(SpinningProgram { seen, until, number });
    }

    pub(super) fn arrived(&mut self, at: Ea) {
        self.programs.has_stored = true;
        let Ea::Local { rank, .. } = at else { return };
        let Some(context) = self.programs.context_mut(rank) else { return };
        context.arrivals += 1;
        if context.spinning.is_some_and(|spinning| context.arrivals >= spinning.until) {
            self.look_again_at_store(rank);
        }
    }

    fn look_again_at_store(&mut self, task: u16) {
        self.context_of(task).spinning = None;
        self.end_call(task, 0, 0);
    }

    fn wake_spinning(
        &mut self,
        changed: impl Fn(&CellBeMachine, u16, SpinningProgram) -> bool,
    ) -> bool {
        let woken: Vec<u16> = (0..self.tasks.len() as u16)
            .filter(|task| {
                let spinning = self.programs.context(*task).and_then(|context| context.spinning);
                matches!(self.waiting_call(*task), Some(SessionCall::AwaitStore))
                    && spinning.is_some_and(|spinning| changed(self, *task, spinning))
            })
            .collect();
        for task in &woken {
            self.look_again_at_store(*task);
        }
        !woken.is_empty()
    }

    pub fn look_at_arrivals(&mut self) -> bool {
        self.wake_spinning(|world, task, spinning| {
            world.programs.context(task).is_some_and(|context| context.arrivals > spinning.seen)
        })
    }

    pub fn stores_changed(&mut self) {
        self.wake_spinning(|world, task, spinning| {
            world.programs.process.number_of(task) != spinning.number
        });
    }
}
