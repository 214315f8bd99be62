//! What a task's calls do.

use crate::cell::line::Register;
use crate::cell::mfc::{Given, Task};
use crate::cell::request::Request;
use crate::cell::world::{Event, MAILBOX, Seat, World};
use seatmap_port::channels::{Ea, Element, MESSAGE_TAG, Order, Service};

impl World {
    /// A task calls, and will be woken when that is done.
    pub fn begin(&mut self, task: u16, request: Request) {
        let called = self.trace.is_some().then(|| (request.name(), self.now()));
        let state = &mut self.tasks[task as usize];
        (state.request, state.step, state.called) = (Some(request), 0, called);
        self.again(task);
    }

    /// Tries what a task has asked for.
    pub fn again(&mut self, task: u16) {
        let Some(request) = self.tasks[task as usize].request else { return };
        match self.tasks[task as usize].seat {
            Seat::Spe(spe) => self.spe_call(task, spe, request),
            Seat::Ppe(chip) => self.ppe_call(task, chip, request),
        }
    }

    fn done(&mut self, task: u16, cycles: u64, answer: u64) {
        self.tasks[task as usize].request = None;
        self.wake(task, cycles, answer);
    }

    fn spe_call(&mut self, task: u16, spe: u16, request: Request) {
        match request {
            Request::Transfer { is_get, local, ea, size, tag, order } => {
                let first = Element { ea, size };
                self.enqueue(task, spe, Given { task: kind(is_get), local, first, tag, order, from: 0 }, &[]);
            }
            Request::List { is_get, local, elements, count, tag, order } => {
                // SAFETY: the task that owns the elements is suspended until this call is done.
                let elements = unsafe { std::slice::from_raw_parts(elements, count) };
                if let Some((first, rest)) = elements.split_first() {
                    let given = Given { task: kind(is_get), local, first: *first, tag, order, from: 0 };
                    self.enqueue(task, spe, given, rest);
                }
            }
            Request::MailboxWrite { to, value } => self.message(task, spe, Register::Mailbox, to, value),
            Request::Signal { to, register, value } => self.message(task, spe, Register::Signal(register), to, value),
            Request::WaitTags(tags) => {
                if !self.spes[spe as usize].mfc.holds(tags) {
                    self.done(task, self.timing.channel + self.timing.tag, 0);
                }
            }
            Request::MailboxRead | Request::SignalRead(_) => self.read_on(task),
            Request::OutboxWrite(value) => {
                let outbox = &mut self.spes[spe as usize].registers.outbox;
                if outbox.is_none() {
                    *outbox = Some(value);
                    self.done(task, self.timing.channel, 0);
                }
            }
            Request::Atomic { at, .. } => self.reserve(spe, at),
            Request::Compute(cycles) => self.done(task, cycles, 0),
            Request::Service(service) => self.serve(task, service),
            // A worker has no way to another's outbound mailbox; it waits for ever, and is told so.
            Request::OutboxRead { .. } => {}
        }
    }

    fn message(&mut self, task: u16, spe: u16, register: Register, to: u16, value: u32) {
        let is_signal = if let Register::Signal(register) = register { u32::from(register) } else { 2 };
        let element = Element { ea: Ea::Local { rank: to, offset: super::memory::LINE_BYTES * is_signal }, size: 4 };
        let what = Task::Message { register, to, value };
        let given = Given { task: what, local: 0, first: element, tag: MESSAGE_TAG, order: Order::Free, from: 0 };
        self.enqueue(task, spe, given, &[]);
    }

    fn enqueue(&mut self, task: u16, spe: u16, given: Given, rest: &[Element]) {
        let now = self.now();
        let mfc = &mut self.spes[spe as usize].mfc;
        if mfc.is_full() {
            // It is tried again when a command ends.
            self.counters.mfc_full += 1;
            return;
        }
        let from = now + self.timing.channel + self.timing.dma_start;
        mfc.enqueue(Given { from, ..given }, rest);
        self.counters.mfc_commands += 1;
        self.issue_at(spe, from);
        self.done(task, self.timing.channel, 0);
    }

    /// A command of an MFC ended: its task may have waited for that.
    pub fn transfer_ended(&mut self, spe: u16, task: u16) {
        match self.tasks[task as usize].request {
            Some(Request::WaitTags(tags)) if !self.spes[spe as usize].mfc.holds(tags) => {
                self.done(task, self.timing.tag, 0)
            }
            Some(
                Request::Transfer { .. } | Request::List { .. } | Request::MailboxWrite { .. } | Request::Signal { .. },
            ) => {
                let now = self.now();
                self.wheel.at(now, Event::Again(task));
            }
            _ => {}
        }
    }

    fn serve(&mut self, task: u16, service: Service) {
        let cycles = match service {
            Service::Thread => self.timing.thread,
            Service::Mailbox => self.timing.mailbox_call,
            Service::Signal => self.timing.signal_call,
        };
        self.done(task, cycles, 0);
    }

    fn ppe_call(&mut self, task: u16, chip: u8, request: Request) {
        match request {
            Request::MailboxWrite { to, value } => self.write_mailbox(task, chip, to, value),
            Request::Signal { to, register, value } => {
                self.tell(chip, to, register, value);
                self.done(task, self.timing.channel, 0);
            }
            Request::OutboxRead { from } => self.poll_outbox(task, chip, from),
            Request::Compute(cycles) => self.done(task, cycles, 0),
            Request::Service(service) => self.serve(task, service),
            _ => {}
        }
    }

    /// Looks for room first, and then writes.
    fn write_mailbox(&mut self, task: u16, chip: u8, to: u16, value: u32) {
        let now = self.now();
        let Some(spe) = self.spe_of(to) else { return };
        let looked = self.tasks[task as usize].step > 0;
        if looked && self.spes[spe].registers.has_room() {
            self.tell(chip, to, MAILBOX, value);
            return self.done(task, self.timing.channel, 0);
        }
        self.tasks[task as usize].step = 1;
        let room = self.timing.ppe_room[self.is_far(chip, spe)];
        self.wheel.at(now + room, Event::Again(task));
    }

    /// A posted store.
    fn tell(&mut self, chip: u8, to: u16, register: u8, value: u32) {
        let Some(spe) = self.spe_of(to) else { return };
        let arrives = self.now() + self.timing.ppe_load[self.is_far(chip, spe)] / 2;
        self.wheel.at(arrives, Event::Told { to, register, value });
    }

    /// Loads the status until it says that there is something, and then loads that. A load sees what is there half-way.
    fn poll_outbox(&mut self, task: u16, chip: u8, from: u16) {
        let now = self.now();
        let Some(spe) = self.spe_of(from) else { return };
        let load = self.timing.ppe_load[self.is_far(chip, spe)];
        if self.tasks[task as usize].step == 0 {
            self.tasks[task as usize].step = 1;
            return self.wheel.at(now + load / 2, Event::Again(task));
        }
        match self.spes[spe].registers.outbox.take() {
            Some(value) => {
                self.done(task, load - load / 2 + load, u64::from(value));
                let writer = self.spes[spe].task;
                if let Some(Request::OutboxWrite(_)) = self.tasks[writer as usize].request {
                    self.wheel.at(now, Event::Again(writer));
                }
            }
            None => self.wheel.at(now + load, Event::Again(task)),
        }
    }

    pub fn spe_of(&self, task: u16) -> Option<usize> {
        match self.tasks.get(task as usize)?.seat {
            Seat::Spe(spe) => Some(spe as usize),
            Seat::Ppe(_) => None,
        }
    }

    fn is_far(&self, chip: u8, spe: usize) -> usize {
        usize::from(self.spes[spe].node.chip != chip)
    }
}

fn kind(is_get: bool) -> Task {
    if is_get { Task::Get } else { Task::Put }
}
