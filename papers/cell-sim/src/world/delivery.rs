//! Transactions between the SPEs and the interconnect.

use super::{CellBeMachine, TaskElement};
use crate::channels::{Atomic, Ea};
use crate::event::CellBeEvent;
use crate::memory::LINE_BYTES;
use crate::mfc::{LineRequest, MfcOperation, Wake};
use crate::request::ChannelCall;
use crate::reservation::{AtomicAction, AtomicRequest};
use crate::transaction::{MappedRegister, RingElement, Transaction, TransactionPurpose};
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

impl CellBeMachine {
    pub(super) fn issue_line(&mut self, spe: u16) {
        if let Some(request) = self.spes[spe as usize].mfc.issue(&mut self.out) {
            let transaction = self.transaction(spe, &request);
            self.interconnect.begin(transaction, &mut self.out);
            self.spes[spe as usize].mfc.issue_next(&mut self.out);
        }
    }

    fn transaction(&self, spe: u16, line: &LineRequest) -> Transaction {
        let own = self.spes[spe as usize].node();
        let (purpose, other, to, value) = match line.work {
            MfcOperation::Get => (TransactionPurpose::Get, self.node_of(line.ea), 0, 0),
            MfcOperation::Put => (TransactionPurpose::Put, self.node_of(line.ea), 0, 0),
            MfcOperation::Message { register, to, value } => {
                (TransactionPurpose::Message(register), self.node_of_task(to), to, value)
            }
            MfcOperation::Barrier => broken(
                at_cycle(format_args!("the MFC of SPE {spe}"), self.out.now()),
                format_args!("a barrier has no lines"),
            ),
        };
        // Data of a GET goes to the requester; all other data leaves it.
        let (source, target) =
            if purpose == TransactionPurpose::Get { (other, own) } else { (own, other) };
        let LineRequest { entry, local, ea, size, .. } = *line;
        Transaction {
            purpose,
            spe,
            requester: own,
            entry,
            source,
            target,
            size,
            ea,
            local,
            to,
            value,
        }
    }

    fn node_of(&self, ea: Ea) -> RingElement {
        match ea {
            Ea::Memory { module, .. } => self.interconnect.memory(self.programs.chip(module)),
            Ea::Local { rank, .. } => self.node_of_task(rank),
        }
    }

    /// The element of a task's local store; the link's for a task on the PPE.
    fn node_of_task(&self, task: u16) -> RingElement {
        match self.tasks[task as usize].seat {
            TaskElement::Spe(spe) => self.spes[spe as usize].node(),
            TaskElement::Ppe(chip) => self.interconnect.bif(chip),
            // The local store of a context without an SPE is in the first chip's memory.
            TaskElement::Stored => self.interconnect.memory(0),
        }
    }

    pub(super) fn respond(&mut self, id: u32) {
        let now = self.out.now();
        let Transaction { purpose, spe, ea, .. } = *self.interconnect.transaction(id, now);
        match purpose {
            TransactionPurpose::Get => self.interconnect.fetch(id, &mut self.out),
            TransactionPurpose::Put => self.interconnect.announce(id, &mut self.out),
            TransactionPurpose::Message(_) => self.interconnect.data_ready(id, &mut self.out),
            TransactionPurpose::Reserve => {
                let owner = self.atomics.order(spe, ea, now);
                let source =
                    owner.map_or(self.node_of(ea), |owner| self.spes[owner as usize].node());
                self.interconnect.fetch_from(id, source, &mut self.out);
            }
            TransactionPurpose::Claim => {
                self.interconnect.finish(id, now);
                let step = self.atomics.claimed(spe, &mut self.out);
                self.advance_atomic(spe, step);
            }
        }
    }

    pub(super) fn arbitrate(&mut self, chip: u8) {
        self.interconnect.arbitrate(chip, &mut self.out);
        if let Some(trace) = &mut self.trace {
            let now = self.out.now();
            for (grant, transaction) in self.interconnect.granted(chip, now) {
                trace.ring(chip, grant.ring, now, grant.arrives, transaction.purpose);
            }
        }
    }

    pub(super) fn delivered(&mut self, id: u32) {
        let now = self.out.now();
        let done = self.interconnect.finish(id, now);
        let own = Ea::Local { rank: self.spes[done.spe as usize].task(now), offset: done.local };
        match done.purpose {
            TransactionPurpose::Get | TransactionPurpose::Put if self.programs.is_active() => {
                self.move_bytes(&done, own)
            }
            TransactionPurpose::Get => self.memory.copy(done.ea, own, done.size, now),
            TransactionPurpose::Put => {
                self.memory.copy(own, done.ea, done.size, now);
                // A transfer's store breaks reservations on its line.
                self.atomics.written(done.ea);
            }
            TransactionPurpose::Message(register) => {
                self.write_register(done.to, register, done.value)
            }
            TransactionPurpose::Reserve => {
                let step = self.atomics.receive(done.spe, &mut self.out);
                return self.advance_atomic(done.spe, step);
            }
            TransactionPurpose::Claim => broken(
                at_cycle("the machine", now),
                format_args!("a claim delivers data: {done:?}"),
            ),
        }
        self.complete_line(done.spe, done.entry);
    }

    fn complete_line(&mut self, spe: u16, entry: u8) {
        let now = self.out.now();
        let one = &mut self.spes[spe as usize];
        let pending = one.mfc.pending_tags();
        let task = one.task(now);
        let wake = one.mfc.complete_line(now, entry);
        match wake {
            Some(Wake::Room) => self.out.send(now, CellBeEvent::Retry(task)),
            Some(Wake::Tags) => self.end_call(task, self.timing.tag, 0),
            Some(Wake::Stalled(entry)) => self.list_stalled(task, entry),
            None => {}
        }
        let mfc = &mut self.spes[spe as usize].mfc;
        mfc.issue_now(&mut self.out);
        let has_changed = mfc.pending_tags() != pending;
        if self.programs.is_active() {
            self.note_progress(task, spe, entry);
            if has_changed {
                self.tags_changed(task, spe);
            }
        }
    }

    pub(super) fn write_register(&mut self, to: u16, register: MappedRegister, value: u32) {
        if self.programs.is_active() {
            return self.register_written(to, register, value);
        }
        let spe = self.spe_of(to);
        self.spes[spe].write(register, value, self.signals_gather);
        match self.tasks[to as usize].request {
            Some(ChannelCall::MailboxRead) => self.read_register(to, MappedRegister::Mailbox),
            Some(ChannelCall::SignalRead(waited)) => {
                self.read_register(to, MappedRegister::Signal(waited))
            }
            _ => {}
        }
    }

    /// If the register is empty, the task waits for a value.
    pub(super) fn read_register(&mut self, task: u16, register: MappedRegister) {
        let spe = self.spe_of(task);
        if let Some(value) = self.spes[spe].read(register) {
            self.end_call(task, self.timing.channel, u64::from(value));
        }
    }

    pub(super) fn advance_atomic(&mut self, spe: u16, step: AtomicAction) {
        let own = self.spes[spe as usize].node();
        match step {
            AtomicAction::Cached => {}
            AtomicAction::Reserve(at) => {
                self.send_atomic(spe, at, TransactionPurpose::Reserve, self.node_of(at), own)
            }
            AtomicAction::Claim(at) => {
                self.send_atomic(spe, at, TransactionPurpose::Claim, own, self.node_of(at))
            }
            AtomicAction::Done(operation) => self.finish_atomic(spe, operation),
            AtomicAction::Held(at) => self.line_held(spe, at),
            AtomicAction::Put(at, is_valid) => self.line_put(spe, at, is_valid),
        }
    }

    fn send_atomic(
        &mut self,
        spe: u16,
        ea: Ea,
        purpose: TransactionPurpose,
        source: RingElement,
        target: RingElement,
    ) {
        let requester = self.spes[spe as usize].node();
        let size = LINE_BYTES;
        let transaction = Transaction {
            purpose,
            spe,
            requester,
            entry: 0,
            source,
            target,
            size,
            ea,
            local: 0,
            to: 0,
            value: 0,
        };
        self.interconnect.begin_at(
            self.out.now() + self.timing.dma_start,
            transaction,
            &mut self.out,
        );
    }

    fn finish_atomic(&mut self, spe: u16, AtomicRequest { kind, at, value }: AtomicRequest) {
        let now = self.out.now();
        let before = self.memory.word(at, now);
        match kind {
            Atomic::Add => self.memory.set_word(at, before.wrapping_add(value), now),
            Atomic::Set => self.memory.set_word(at, value, now),
            Atomic::Read => {}
        }
        let task = self.spes[spe as usize].task(now);
        self.end_call(task, 0, u64::from(before));
    }
}
