//! Running C programs: contexts and threads, which are added and removed while the machine runs.

use super::{CellBeMachine, Task, TaskElement};
use crate::event::CellBeEvent;
use crate::request::ChannelCall;
use crate::session::{AddressSpace, ChannelState, SessionCall, SpeAccount, Spent};
use seatmap_data::invariant::broken;
use seatmap_sim::engine::SimulatedMachine;
use seatmap_sim::moment::at_cycle;

/// The contexts and addresses of the simulated process. Empty in a bed.
#[derive(Clone, Debug, Default)]
pub struct ProgramContexts {
    is_active: bool,
    contexts: Vec<Option<ChannelState>>,
    free: Vec<u16>,
    pub process: AddressSpace,
    pub accounts: Vec<SpeAccount>,
    pub(super) seats: Vec<u16>,
    pub(super) has_stored: bool,
    pub(super) line_waiters: u32,
    calls: u64,
    cycles_per_tick: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct CallProgress {
    pub has_begun: bool,
    pub looks: u32,
    pub number: u64,
    /// Whether it was woken before it parked.
    pub is_woken: bool,
    /// The category of the call's time, and its start.
    pub spends: Option<(Spent, u64)>,
}

impl ProgramContexts {
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    pub fn chip(&self, module: u8) -> u8 {
        if self.is_active { AddressSpace::chip(module) } else { module }
    }

    pub fn context(&self, task: u16) -> Option<&ChannelState> {
        self.contexts.get(task as usize)?.as_ref()
    }

    pub fn context_mut(&mut self, task: u16) -> Option<&mut ChannelState> {
        self.contexts.get_mut(task as usize)?.as_mut()
    }

    pub fn contexts(&self) -> impl Iterator<Item = (u16, &ChannelState)> {
        (0..).zip(&self.contexts).filter_map(|(task, context)| Some((task, context.as_ref()?)))
    }
}

impl CellBeMachine {
    /// Prepares the machine for C programs. Contexts take the SPEs in the order of `seats`.
    pub fn begin_programs(&mut self, seats: Vec<u16>, cycles_per_tick: f64) {
        self.reset(&crate::channels::ProgramNeeds::default(), 0, &[]);
        let accounts = vec![SpeAccount::default(); self.spes.len()];
        self.programs = ProgramContexts {
            is_active: true,
            seats,
            cycles_per_tick,
            accounts,
            ..ProgramContexts::default()
        };
    }

    pub fn programs(&self) -> &ProgramContexts {
        &self.programs
    }

    pub fn programs_mut(&mut self) -> &mut ProgramContexts {
        &mut self.programs
    }

    pub fn add_task(&mut self, context: Option<ChannelState>) -> u16 {
        let seat = if context.is_some() { TaskElement::Stored } else { TaskElement::Ppe(0) };
        let task = match self.programs.free.pop() {
            Some(task) => {
                self.tasks[task as usize] = Task::new(seat);
                task
            }
            None => {
                self.tasks.push(Task::new(seat));
                self.programs.contexts.push(None);
                self.tasks.len() as u16 - 1
            }
        };
        self.programs.contexts[task as usize] = context;
        task
    }

    /// Removes a task that is not in a call.
    pub fn remove_task(&mut self, task: u16) {
        self.programs.contexts[task as usize] = None;
        self.programs.free.push(task);
    }

    pub fn tick(&self) -> u64 {
        (self.out.now() as f64 / self.programs.cycles_per_tick) as u64
    }

    pub(super) fn cycle_of(&self, tick: u64) -> u64 {
        (tick as f64 * self.programs.cycles_per_tick).ceil() as u64
    }

    pub fn call_after(&mut self, task: u16, call: SessionCall, work: u64) {
        self.programs.calls += 1;
        let progress = CallProgress { number: self.programs.calls, ..CallProgress::default() };
        self.tasks[task as usize].progress = progress;
        self.note_call(task, &call, work);
        if work == 0 {
            return self.call(task, ChannelCall::Program(call));
        }
        let now = self.out.now();
        let called = self.trace.is_some().then(|| (call.name(), now + work));
        let state = &mut self.tasks[task as usize];
        (state.request, state.has_polled, state.called) =
            (Some(ChannelCall::Program(call)), false, called);
        self.out.send(now + work, CellBeEvent::Retry(task));
    }

    /// Advances time until a task has its turn or bytes arrive. `None` means that no event is
    /// pending; `Some(None)` means that bytes arrived.
    pub fn next_task_or_store(&mut self) -> Option<Option<u16>> {
        self.programs.has_stored = false;
        while !self.programs.has_stored {
            let (_, event) = self.out.deliver()?;
            self.dispatch(event);
            if let CellBeEvent::Resume(task) = event {
                return Some(Some(task));
            }
        }
        Some(None)
    }

    pub(super) fn program_call(&mut self, task: u16, seat: TaskElement, call: SessionCall) {
        self.tasks[task as usize].progress.has_begun = true;
        match (call, seat) {
            (SessionCall::Work(cycles), _) => self.end_call(task, cycles, 0),
            (call, TaskElement::Ppe(chip)) => self.thread_call(task, chip, call),
            (call, TaskElement::Spe(spe)) => self.channel_call(task, spe, call),
            (call, TaskElement::Stored) => self.cannot(task, &ChannelCall::Program(call)),
        }
    }

    pub(super) fn cannot(&self, task: u16, request: &ChannelCall) -> ! {
        broken(
            at_cycle(format_args!("task {task}"), self.out.now()),
            format_args!("it cannot do {request:?}"),
        )
    }

    pub(super) fn context_of(&mut self, task: u16) -> &mut ChannelState {
        let now = self.out.now();
        match self.programs.context_mut(task) {
            Some(context) => context,
            None => broken(
                at_cycle(format_args!("task {task}"), now),
                format_args!("it is not a context"),
            ),
        }
    }

    pub fn context_for(&mut self, task: u16, does: impl FnOnce(&mut ChannelState)) {
        if let Some(context) = self.programs.context_mut(task) {
            does(context);
        }
    }

    /// Retries the calls of waiting threads after a change from outside.
    pub fn nudge_waiting_threads(&mut self) {
        self.nudge_threads();
    }

    pub(super) fn nudge(&mut self, task: u16) {
        if self.waiting_call(task).is_some() {
            self.try_call(task);
        }
    }

    /// Retries the waiting threads' calls in their order.
    pub(super) fn nudge_threads(&mut self) {
        let mut waiting: Vec<u16> = (0..self.tasks.len() as u16)
            .filter(|task| {
                matches!(self.tasks[*task as usize].seat, TaskElement::Ppe(_))
                    && self.waiting_call(*task).is_some()
            })
            .collect();
        waiting.sort_by_key(|task| self.tasks[*task as usize].progress.number);
        for task in waiting {
            self.nudge(task);
        }
    }

    pub(super) fn waiting_call(&self, task: u16) -> Option<SessionCall> {
        let state = &self.tasks[task as usize];
        match state.request {
            Some(ChannelCall::Program(call)) if call.waits() && state.progress.has_begun => {
                Some(call)
            }
            _ => None,
        }
    }

    pub fn calls(&self, task: u16) -> Option<SessionCall> {
        match self.tasks.get(task as usize)?.request {
            Some(ChannelCall::Program(call)) => Some(call),
            _ => None,
        }
    }
}
