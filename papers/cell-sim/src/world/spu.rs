//! The calls of a task on an SPE.

use super::CellBeMachine;
use crate::channels::{Ea, Element, MESSAGE_TAG, TransferOrder};
use crate::memory::LINE_BYTES;
use crate::mfc::{MfcCommand, MfcOperation};
use crate::request::ChannelCall;
use crate::reservation::AtomicRequest;
use crate::transaction::MappedRegister;
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

const MESSAGE_BYTES: u32 = 4;

impl CellBeMachine {
    pub(super) fn spu_call(&mut self, task: u16, spe: u16, request: ChannelCall) {
        match request {
            ChannelCall::Transfer { is_get, local, ea, size, tag, order } => {
                let first = Element { ea, size };
                self.enqueue(
                    task,
                    spe,
                    MfcCommand { work: work(is_get), local, first, tag, order },
                    &[],
                );
            }
            ChannelCall::List { is_get, local, elements, count, tag, order } => {
                // SAFETY: the task that owns the elements is suspended until this call is done.
                let elements = unsafe { std::slice::from_raw_parts(elements, count) };
                let Some((first, rest)) = elements.split_first() else {
                    broken(
                        at_cycle(format_args!("task {task}"), self.out.now()),
                        format_args!("a list without elements was checked"),
                    )
                };
                self.enqueue(
                    task,
                    spe,
                    MfcCommand { work: work(is_get), local, first: *first, tag, order },
                    rest,
                );
            }
            ChannelCall::MailboxWrite { to, value } => {
                self.send_message(task, spe, MappedRegister::Mailbox, to, value)
            }
            ChannelCall::Signal { to, register, value } => {
                self.send_message(task, spe, MappedRegister::Signal(register), to, value);
            }
            ChannelCall::WaitTags(tags) => {
                if self.spes[spe as usize].mfc.finds_complete(tags) {
                    self.end_call(task, self.timing.channel + self.timing.tag, 0);
                }
            }
            ChannelCall::MailboxRead => self.read_register(task, MappedRegister::Mailbox),
            ChannelCall::SignalRead(register) => {
                self.read_register(task, MappedRegister::Signal(register))
            }
            ChannelCall::OutboxWrite(value) => self.write_outbound(task, spe, value),
            ChannelCall::Atomic { operation, at, value } => {
                let step = self.atomics.begin(
                    spe,
                    AtomicRequest { kind: operation, at, value },
                    &mut self.out,
                );
                self.advance_atomic(spe, step);
            }
            ChannelCall::Compute(cycles) => self.end_call(task, cycles, 0),
            ChannelCall::Service(service) => self.serve(task, service),
            // An SPU cannot read another SPU's outbound mailbox: it waits forever, and the deadlock
            // report shows it.
            ChannelCall::OutboxRead { .. } => {}
            ChannelCall::Program(_) => self.cannot(task, &request),
        }
    }

    /// A message is a small put to a mapped register.
    fn send_message(&mut self, task: u16, spe: u16, register: MappedRegister, to: u16, value: u32) {
        let ea = Ea::Local { rank: to, offset: LINE_BYTES * register.line() };
        let first = Element { ea, size: MESSAGE_BYTES };
        let work = MfcOperation::Message { register, to, value };
        self.enqueue(
            task,
            spe,
            MfcCommand { work, local: 0, first, tag: MESSAGE_TAG, order: TransferOrder::Free },
            &[],
        );
    }

    /// While the MFC's queue is full, the SPU waits and retries.
    fn enqueue(&mut self, task: u16, spe: u16, command: MfcCommand, rest: &[Element]) {
        let mfc = &mut self.spes[spe as usize].mfc;
        if mfc.finds_room() {
            mfc.enqueue(command, rest, &mut self.out);
            self.end_call(task, self.timing.channel, 0);
        }
    }

    /// While the mailbox is full, the SPU waits for the PPE.
    fn write_outbound(&mut self, task: u16, spe: u16, value: u32) {
        let outbound = &mut self.spes[spe as usize].outbound;
        if outbound.has_room() {
            outbound.write(self.out.now(), value);
            self.end_call(task, self.timing.channel, 0);
        }
    }
}

fn work(is_get: bool) -> MfcOperation {
    if is_get { MfcOperation::Get } else { MfcOperation::Put }
}
