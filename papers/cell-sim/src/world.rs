//! A running machine: its components and tasks, and the delivery of messages.

mod channels;
mod delivery;
mod lines;
mod ppe;
mod programs;
mod seats;
mod spinning;
mod spu;
mod threads;
mod tracing;

use crate::CellModel;
use crate::channels::{OsService, ProgramNeeds};
use crate::counters::CellBeCounters;
use crate::event::{CellBeEvent, EventOutbox};
use crate::interconnect::{Interconnect, node};
use crate::memory::CellBeMemory;
use crate::parameters::CellBeTiming;
use crate::request::ChannelCall;
use crate::reservation::AtomicUnits;
use crate::spe::Spe;
use crate::trace::EventTrace;
use crate::world::programs::{CallProgress, ProgramContexts};
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use seatmap_sim::engine::SimulatedMachine;
use seatmap_sim::moment::at_cycle;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskElement {
    Spe(u16),
    Ppe(u8),
    /// None: a context without an SPE, whose local store is in main memory.
    Stored,
}

#[derive(Clone, Debug)]
struct Task {
    seat: TaskElement,
    request: Option<ChannelCall>,
    answer: u64,
    has_polled: bool,
    called: Option<(&'static str, u64)>,
    progress: CallProgress,
}

#[derive(Clone, Debug)]
pub struct CellBeMachine {
    timing: CellBeTiming,
    out: EventOutbox,
    memory: CellBeMemory,
    spes: Vec<Spe>,
    interconnect: Interconnect,
    atomics: AtomicUnits,
    tasks: Vec<Task>,
    signals_gather: bool,
    trace: Option<EventTrace>,
    programs: ProgramContexts,
}

impl Task {
    fn new(seat: TaskElement) -> Self {
        Task {
            seat,
            request: None,
            answer: 0,
            has_polled: false,
            called: None,
            progress: CallProgress::default(),
        }
    }
}

impl CellBeMachine {
    pub fn new(model: &CellModel) -> Self {
        let timing = model.timing();
        let each = model.spes.len();
        CellBeMachine {
            out: EventOutbox::default(),
            memory: CellBeMemory::default(),
            spes: (0..model.spes())
                .map(|number| {
                    let place = node(
                        model,
                        (number / each) as u8,
                        &format!("SPE{}", model.spes[number % each]),
                    );
                    Spe::new(number as u16, place, &timing)
                })
                .collect(),
            interconnect: Interconnect::new(model, &timing),
            atomics: AtomicUnits::new(model.spes(), &timing),
            tasks: Vec::new(),
            signals_gather: false,
            trace: None,
            programs: ProgramContexts::default(),
            timing,
        }
    }

    pub fn reset(&mut self, shape: &ProgramNeeds, chips: usize, seats: &[TaskElement]) {
        self.out.clear();
        self.memory.reset(shape, chips);
        self.signals_gather = shape.signals_or;
        self.tasks = seats.iter().map(|seat| Task::new(*seat)).collect();
        for (number, spe) in self.spes.iter_mut().enumerate() {
            spe.reset(
                seats
                    .iter()
                    .position(|seat| *seat == TaskElement::Spe(number as u16))
                    .map(|task| task as u16),
            );
        }
        self.interconnect.reset();
        self.atomics.reset();
    }

    pub fn start(&mut self, time: u64, task: u16) {
        self.out.send(time, CellBeEvent::Resume(task));
    }

    pub fn start_skew(&self) -> u64 {
        self.timing.start_skew
    }

    pub fn set_trace(&mut self, trace: Option<EventTrace>) {
        self.trace = trace;
    }

    pub fn take_trace(&mut self) -> Option<EventTrace> {
        self.trace.take()
    }

    pub fn memory(&self) -> &CellBeMemory {
        &self.memory
    }

    pub fn memory_mut(&mut self) -> &mut CellBeMemory {
        &mut self.memory
    }

    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    pub fn seat(&self, task: usize) -> Option<TaskElement> {
        self.tasks.get(task).map(|task| task.seat)
    }

    pub fn count(&self, model: &CellModel) -> CellBeCounters {
        CellBeCounters {
            events: self.out.sent(),
            cycles: self.out.now(),
            mfc_commands: over_all(&self.spes, |spe| spe.mfc.commands()),
            mfc_full: over_all(&self.spes, |spe| spe.mfc.full()),
            lost_reservations: self.atomics.lost(),
            ..self.interconnect.count(&model.ring)
        }
    }

    #[inline]
    fn dispatch(&mut self, event: CellBeEvent) {
        match event {
            CellBeEvent::Resume(task) => self.note_resumed(task),
            CellBeEvent::Retry(task) => self.try_call(task),
            CellBeEvent::IssueLine(spe) => self.issue_line(spe),
            CellBeEvent::Command(id) => self.interconnect.command(id, &mut self.out),
            CellBeEvent::CommandTurn => self.interconnect.command_turn(&mut self.out),
            CellBeEvent::Response(id) => self.respond(id),
            CellBeEvent::MemoryTurn(channel) => {
                self.interconnect.memory_turn(channel, &mut self.out)
            }
            CellBeEvent::DataReady(id) => self.interconnect.data_ready(id, &mut self.out),
            CellBeEvent::Arbitrate(chip) => self.arbitrate(chip),
            CellBeEvent::LeftRing(id) => {
                if self.interconnect.left_ring(id, &mut self.out) {
                    self.delivered(id);
                }
            }
            CellBeEvent::CrossedLink(id) => self.interconnect.crossed_link(id, &mut self.out),
            CellBeEvent::Delivered(id) => self.delivered(id),
            CellBeEvent::RegisterWrite { to, register, value } => {
                self.write_register(to, register, value)
            }
            CellBeEvent::AtomicHalf(spe) => {
                let step = self.atomics.half_done(spe, &mut self.out);
                self.advance_atomic(spe, step);
            }
            CellBeEvent::Timer { task, number } => self.time_is_up(task, number),
        }
    }

    fn note_resumed(&mut self, task: u16) {
        let now = self.out.now();
        let called = self.tasks[task as usize].called.take();
        if self.programs.is_active() {
            return self.note_call_ended(task, called);
        }
        if let (Some(trace), Some((name, began))) = (&mut self.trace, called) {
            trace.call(task, name, began, now);
        }
    }

    fn try_call(&mut self, task: u16) {
        let request = self.request_of(task);
        match (request, self.tasks[task as usize].seat) {
            (ChannelCall::Program(call), seat) => self.program_call(task, seat, call),
            (request, TaskElement::Spe(spe)) => self.spu_call(task, spe, request),
            (request, TaskElement::Ppe(chip)) => self.ppe_call(task, chip, request),
            (request, TaskElement::Stored) => self.cannot(task, &request),
        }
    }

    fn request_of(&self, task: u16) -> ChannelCall {
        match self.tasks[task as usize].request {
            Some(request) => request,
            None => broken(
                at_cycle(format_args!("task {task}"), self.out.now()),
                format_args!("a call is tried that has ended"),
            ),
        }
    }

    #[inline]
    fn end_call(&mut self, task: u16, cycles: u64, answer: u64) {
        let state = &mut self.tasks[task as usize];
        let ended = state.request.take();
        invariant!(
            ended.is_some(),
            at_cycle(format_args!("task {task}"), self.out.now()),
            "a call ends twice"
        );
        state.answer = answer;
        self.out.send(self.out.now() + cycles, CellBeEvent::Resume(task));
    }

    fn serve(&mut self, task: u16, service: OsService) {
        let cycles = match service {
            OsService::Thread => self.timing.thread,
            OsService::Mailbox => self.timing.mailbox_call,
            OsService::Signal => self.timing.signal_call,
        };
        self.end_call(task, cycles, 0);
    }

    fn spe_of(&self, task: u16) -> usize {
        match self.tasks[task as usize].seat {
            TaskElement::Spe(spe) => spe as usize,
            TaskElement::Ppe(chip) => broken(
                at_cycle(format_args!("the PPE of chip {chip}"), self.out.now()),
                format_args!("task {task} is asked for registers that only an SPE has"),
            ),
            TaskElement::Stored => broken(
                at_cycle(format_args!("task {task}"), self.out.now()),
                format_args!("it is not on an SPE"),
            ),
        }
    }
}

fn over_all(spes: &[Spe], count: fn(&Spe) -> u64) -> u64 {
    spes.iter().map(count).sum()
}

impl SimulatedMachine for CellBeMachine {
    type Call = ChannelCall;

    fn next_task(&mut self) -> Option<(u64, u16)> {
        loop {
            let (time, event) = self.out.deliver()?;
            self.dispatch(event);
            if let CellBeEvent::Resume(task) = event {
                return Some((time, task));
            }
        }
    }

    fn answer(&self, task: u16) -> u64 {
        self.tasks[task as usize].answer
    }

    fn call(&mut self, task: u16, request: ChannelCall) {
        let now = self.out.now();
        let called = self.trace.is_some().then(|| (request.name(), now));
        let state = &mut self.tasks[task as usize];
        let before = state.request;
        invariant!(
            before.is_none(),
            at_cycle(format_args!("task {task}"), now),
            "it calls {request:?} during {before:?}"
        );
        (state.request, state.has_polled, state.called) = (Some(request), false, called);
        self.try_call(task);
    }

    fn now(&self) -> u64 {
        self.out.now()
    }

    fn events(&self) -> u64 {
        self.out.sent()
    }

    fn doing(&self, task: u16) -> Option<String> {
        self.tasks[task as usize].request.map(|request| request.to_string())
    }
}

#[cfg(test)]
mod tests;
