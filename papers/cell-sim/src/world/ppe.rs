//! The calls of a task on the PPE, which accesses the SPEs' mapped registers.

use super::CellBeMachine;
use crate::event::CellBeEvent;
use crate::request::ChannelCall;
use crate::transaction::MappedRegister;
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

impl CellBeMachine {
    pub(super) fn ppe_call(&mut self, task: u16, chip: u8, request: ChannelCall) {
        match request {
            ChannelCall::MailboxWrite { to, value } => self.write_mailbox(task, chip, to, value),
            ChannelCall::Signal { to, register, value } => {
                self.store(chip, to, MappedRegister::Signal(register), value);
                self.end_call(task, self.timing.channel, 0);
            }
            ChannelCall::OutboxRead { from } => self.poll_outbound(task, chip, from),
            ChannelCall::Compute(cycles) => self.end_call(task, cycles, 0),
            ChannelCall::Service(service) => self.serve(task, service),
            ChannelCall::Transfer { .. }
            | ChannelCall::List { .. }
            | ChannelCall::WaitTags(_)
            | ChannelCall::MailboxRead
            | ChannelCall::OutboxWrite(_)
            | ChannelCall::SignalRead(_)
            | ChannelCall::Program(_)
            | ChannelCall::Atomic { .. } => broken(
                at_cycle(format_args!("the PPE of chip {chip}"), self.out.now()),
                format_args!("it cannot do {request:?}"),
            ),
        }
    }

    fn write_mailbox(&mut self, task: u16, chip: u8, to: u16, value: u32) {
        let spe = self.spe_of(to);
        // The first look takes its time before it sees anything.
        if self.tasks[task as usize].has_polled && self.spes[spe].has_mailbox_room() {
            self.store(chip, to, MappedRegister::Mailbox, value);
            return self.end_call(task, self.timing.channel, 0);
        }
        self.tasks[task as usize].has_polled = true;
        let looked =
            if self.is_far(chip, spe) { self.timing.ppe_room_far } else { self.timing.ppe_room };
        self.out.send(self.out.now() + looked, CellBeEvent::Retry(task));
    }

    /// Sends a posted store, which arrives after half a load's time.
    pub(super) fn store(&mut self, chip: u8, to: u16, register: MappedRegister, value: u32) {
        let load = self.load_cycles(chip, self.spe_of(to));
        self.out
            .send(self.out.now() + load / 2, CellBeEvent::RegisterWrite { to, register, value });
    }

    /// Polls an outbound mailbox's status until it is full, and then loads it. A load sees the
    /// state at half of its time.
    fn poll_outbound(&mut self, task: u16, chip: u8, from: u16) {
        let now = self.out.now();
        let spe = self.spe_of(from);
        let load = self.load_cycles(chip, spe);
        if !self.tasks[task as usize].has_polled {
            self.tasks[task as usize].has_polled = true;
            return self.out.send(now + load / 2, CellBeEvent::Retry(task));
        }
        match self.spes[spe].outbound.read() {
            Some(value) => {
                self.end_call(task, load - load / 2 + load, u64::from(value));
                self.wake_outbound_writer(from);
            }
            None => self.out.send(now + load, CellBeEvent::Retry(task)),
        }
    }

    fn wake_outbound_writer(&mut self, task: u16) {
        if let Some(ChannelCall::OutboxWrite(_)) = self.tasks[task as usize].request {
            self.out.send(self.out.now(), CellBeEvent::Retry(task));
        }
    }

    fn load_cycles(&self, chip: u8, spe: usize) -> u64 {
        if self.is_far(chip, spe) { self.timing.ppe_load_far } else { self.timing.ppe_load }
    }

    fn is_far(&self, chip: u8, spe: usize) -> bool {
        self.spes[spe].node().chip != chip
    }
}
