//! The channels of an SPU with a C program.

use super::CellBeMachine;
use crate::channels::{Ea, Element, SignalNumber, TransferOrder};
use crate::event::CellBeEvent;
use crate::mfc;
use crate::session::context::{REGISTER_OFFSETS, spu_event};
use crate::session::process::{AddressTarget, REGISTERS};
use crate::session::{
    CommandKind, ListElement, Outbound, ProgramCommand, ReadChannel, SessionCall,
};
use crate::transaction::{MappedRegister, Transaction};
use crate::{memory::LINE_BYTES, transaction::TransactionPurpose};

const NO_ENTRY: u64 = u64::MAX;

impl CellBeMachine {
    pub(super) fn channel_call(&mut self, task: u16, spe: u16, call: SessionCall) {
        if self.context_of(task).fault.is_some() {
            return self.end_call(task, 0, NO_ENTRY);
        }
        // Any other call shows that the program does not spin.
        if !matches!(call, SessionCall::AwaitStore) {
            self.context_of(task).patience = 0;
        }
        match call {
            SessionCall::AwaitStore => self.await_store(task),
            SessionCall::Command(command) => self.command(task, spe, command),
            SessionCall::List { command, elements, count, is_open } => {
                // SAFETY: the program that owns the elements is suspended until this call is done.
                let elements = unsafe { std::slice::from_raw_parts(elements, count) };
                self.list(task, spe, command, elements, is_open);
            }
            SessionCall::Read(reading) => self.read_channel(task, reading),
            SessionCall::Write(which, value) => self.write_mailbox_out(task, which, value),
            SessionCall::Look => self.end_call(task, self.timing.channel, 0),
            _ => self.cannot(task, &crate::request::ChannelCall::Program(call)),
        }
    }

    fn command(&mut self, task: u16, spe: u16, command: ProgramCommand) {
        match command.kind {
            kind if kind.is_atomic() => self.atomic_command(task, spe, command),
            CommandKind::Barrier => {
                // Without room, the call is retried when an entry is free.
                if self.spes[spe as usize].mfc.finds_room() {
                    self.spes[spe as usize].mfc.enqueue_barrier(command.tag, &mut self.out);
                    self.end_call(task, self.timing.channel, NO_ENTRY);
                }
            }
            _ if command.bytes == 0 => self.end_call(task, self.timing.channel, NO_ENTRY),
            _ => {
                if self.spes[spe as usize].mfc.finds_room() {
                    let entry = self.enqueue_command(task, spe, command, command.tag);
                    if entry.is_none() {
                        self.fault(task, command);
                    }
                    self.end_call(task, self.timing.channel, entry.map_or(NO_ENTRY, u64::from));
                }
            }
        }
    }

    pub(super) fn enqueue_command(
        &mut self,
        task: u16,
        spe: u16,
        command: ProgramCommand,
        tag: u8,
    ) -> Option<u8> {
        let found = self.programs.process.find(command.effective, command.bytes);
        let (work, ea) = self.planned(task, command, found?)?;
        let first = Element { ea, size: command.bytes };
        let order = order_of(command.kind);
        let queued = mfc::MfcCommand { work, local: command.local, first, tag, order };
        let entry = self.spes[spe as usize].mfc.enqueue(queued, &[], &mut self.out);
        self.note_command(task, spe, entry, command, command.bytes);
        Some(entry)
    }

    fn planned(
        &self,
        task: u16,
        command: ProgramCommand,
        place: AddressTarget,
    ) -> Option<(mfc::MfcOperation, Ea)> {
        let is_get = matches!(command.kind, CommandKind::Get(_));
        match place {
            AddressTarget::Bytes(ea) => {
                let is_there = self.programs.process.is_there(ea, command.bytes, !is_get);
                is_there.then_some((
                    if is_get { mfc::MfcOperation::Get } else { mfc::MfcOperation::Put },
                    ea,
                ))
            }
            AddressTarget::Register { of, offset } if is_get => {
                let is_there = command.bytes == 4 && REGISTER_OFFSETS.contains(&offset);
                is_there.then_some((
                    mfc::MfcOperation::Get,
                    Ea::Local { rank: of, offset: REGISTERS | offset },
                ))
            }
            AddressTarget::Register { of, offset } => {
                let register = MappedRegister::at(offset).filter(|_| command.bytes == 4)?;
                let own = Ea::Local { rank: task, offset: command.local };
                // SAFETY: four aligned bytes of the store, as the command's rules say.
                let value =
                    unsafe { self.programs.process.pointer(own)?.cast::<u32>().read_volatile() };
                let ea = Ea::Local { rank: of, offset: LINE_BYTES * register.line() };
                Some((mfc::MfcOperation::Message { register, to: of, value }, ea))
            }
        }
    }

    fn list(
        &mut self,
        task: u16,
        spe: u16,
        command: ProgramCommand,
        elements: &[ListElement],
        is_open: bool,
    ) {
        if !self.spes[spe as usize].mfc.finds_room() {
            return;
        }
        let is_get = matches!(command.kind, CommandKind::Get(_));
        let Some(found) = self.list_elements(elements, !is_get) else {
            self.fault(task, command);
            return self.end_call(task, self.timing.channel, NO_ENTRY);
        };
        let work = if is_get { mfc::MfcOperation::Get } else { mfc::MfcOperation::Put };
        let Some((first, rest)) = found.split_first() else {
            return self.empty_list(task, spe, command, work, is_open);
        };
        let order = order_of(command.kind);
        let queued =
            mfc::MfcCommand { work, local: command.local, first: *first, tag: command.tag, order };
        let mfc = &mut self.spes[spe as usize].mfc;
        let entry = mfc.enqueue(queued, rest, &mut self.out);
        mfc.align_list(entry, is_open);
        let bytes = found.iter().map(|element| element.size).sum();
        self.note_command(task, spe, entry, command, bytes);
        self.end_call(task, self.timing.channel, u64::from(entry));
    }

    /// Handles a list whose elements move nothing, up to its first stall.
    fn empty_list(
        &mut self,
        task: u16,
        spe: u16,
        command: ProgramCommand,
        work: mfc::MfcOperation,
        is_open: bool,
    ) {
        if !is_open {
            return self.end_call(task, self.timing.channel, NO_ENTRY);
        }
        let mfc = &mut self.spes[spe as usize].mfc;
        let entry = mfc.enqueue_stalled(work, command.local, command.tag, &mut self.out);
        self.note_command(task, spe, entry, command, 0);
        self.end_call(task, self.timing.channel, u64::from(entry));
        self.list_stalled(task, entry);
    }

    fn list_elements(&mut self, elements: &[ListElement], writes: bool) -> Option<Vec<Element>> {
        let process = &mut self.programs.process;
        elements
            .iter()
            .map(|element| match process.find(element.effective, element.bytes)? {
                AddressTarget::Bytes(ea) if process.is_there(ea, element.bytes, writes) => {
                    Some(Element { ea, size: element.bytes })
                }
                _ => None,
            })
            .collect()
    }

    pub(super) fn list_stalled(&mut self, task: u16, entry: u8) {
        let context = self.context_of(task);
        let tag = context.commands[entry as usize].map_or(0, |command| command.tag);
        context.stalled |= 1 << tag;
        context.stalled_entries.push(entry);
        self.raise(task, spu_event::LIST_STALL);
        self.nudge(task);
    }

    pub fn extend_list(&mut self, task: u16, entry: u8, elements: &[ListElement], is_open: bool) {
        let Some(spe) = self.context_of(task).seat else { return };
        self.context_of(task).stalled_entries.retain(|other| *other != entry);
        let command = self.context_of(task).commands[entry as usize];
        let is_get = command.is_some_and(|command| matches!(command.kind, CommandKind::Get(_)));
        let found = self.list_elements(elements, !is_get);
        if let (None, Some(command)) = (&found, command) {
            self.fault(task, command);
        }
        let found = found.unwrap_or_default();
        if is_open && elements.is_empty() {
            return self.list_stalled(task, entry);
        }
        let goes_on = self.spes[spe as usize].mfc.extend(
            entry,
            &found,
            is_open && !found.is_empty(),
            &mut self.out,
        );
        if !goes_on {
            self.note_progress(task, spe, entry);
            self.tags_changed(task, spe);
        }
    }

    fn read_channel(&mut self, task: u16, reading: ReadChannel) {
        let has_waited = std::mem::replace(&mut self.tasks[task as usize].has_polled, true);
        let channel = self.timing.channel;
        let found = match reading {
            ReadChannel::Mailbox => {
                self.context_of(task).inbound.read().map(|value| (value, channel))
            }
            ReadChannel::Signal(register) => {
                self.context_of(task).take_signal(register).map(|value| (value, channel))
            }
            ReadChannel::TagStatus => {
                // A read that waited has already paid for its access.
                let cycles = if has_waited { self.timing.tag } else { channel + self.timing.tag };
                self.context_of(task).tag_status.take().map(|status| (status, cycles))
            }
            ReadChannel::StallStatus => {
                let tags = std::mem::take(&mut self.context_of(task).stalled);
                (tags != 0).then_some((tags, channel))
            }
            // The calibrated halves of an atomic include the reads of their status.
            ReadChannel::AtomicStatus => {
                self.context_of(task).atomic_status.take().map(|status| (status, 0))
            }
            ReadChannel::Events => {
                self.read_events(task, has_waited).map(|events| (events, channel))
            }
        };
        if let Some((value, cycles)) = found {
            self.end_call(task, cycles, u64::from(value));
            if reading == ReadChannel::Mailbox {
                self.note_messages(task, None);
                self.nudge_threads();
            }
        }
    }

    fn read_events(&mut self, task: u16, has_waited: bool) -> Option<u32> {
        let events = self.pending_events(task);
        let mask = self.context_of(task).event_mask;
        let waits_for_line = u32::from(mask & spu_event::LOCK_LINE != 0);
        match (events, has_waited) {
            // The waiter is counted at the first try only.
            (0, false) => {
                self.programs.line_waiters += waits_for_line;
                self.await_decrementer(task);
                None
            }
            (0, true) => None,
            (events, has_waited) => {
                self.programs.line_waiters -= waits_for_line * u32::from(has_waited);
                Some(events)
            }
        }
    }

    fn await_decrementer(&mut self, task: u16) {
        let context = self.context_of(task);
        if context.event_mask & spu_event::DECREMENTER == 0 || context.has_decremented {
            return;
        }
        context.timer = context.timer.wrapping_add(1);
        let number = context.timer;
        let tick = context.negative_at();
        let at = self.cycle_of(tick).max(self.out.now() + 1);
        self.out.send(at, CellBeEvent::Timer { task, number });
    }

    pub fn pending_events(&mut self, task: u16) -> u32 {
        let tick = self.tick();
        let context = self.context_of(task);
        if !context.has_decremented && tick >= context.negative_at() {
            context.has_decremented = true;
            context.events |= spu_event::DECREMENTER;
        }
        if context.event_mask & spu_event::LOCK_LINE != 0 && self.has_lost_line(task) {
            let context = self.context_of(task);
            context.reserved = None;
            context.events |= spu_event::LOCK_LINE;
        }
        let context = self.context_of(task);
        context.events & context.event_mask
    }

    pub fn raise(&mut self, task: u16, event: u32) {
        self.context_of(task).events |= event;
        if matches!(self.waiting_call(task), Some(SessionCall::Read(ReadChannel::Events))) {
            self.try_call(task);
        }
    }

    fn write_mailbox_out(&mut self, task: u16, which: Outbound, value: u32) {
        let now = self.out.now();
        let mailbox = self.context_of(task).mailbox_mut(which);
        if mailbox.has_room() {
            mailbox.write(now, value);
            self.note_messages(task, Some(which));
            self.end_call(task, self.timing.channel, 0);
            self.nudge_threads();
        }
    }

    pub(super) fn register_written(&mut self, to: u16, register: MappedRegister, value: u32) {
        let Some(context) = self.programs.context_mut(to) else { return };
        let event = match register {
            MappedRegister::Mailbox => {
                context.inbound.write(value);
                spu_event::IN_MBOX
            }
            MappedRegister::Signal(register) => {
                context.signal(register, value);
                if register == SignalNumber::One {
                    spu_event::SIGNAL_1
                } else {
                    spu_event::SIGNAL_2
                }
            }
        };
        self.note_messages(to, None);
        self.raise(to, event);
        self.nudge(to);
    }

    pub(super) fn move_bytes(&mut self, done: &Transaction, own: Ea) {
        let is_get = done.purpose == TransactionPurpose::Get;
        let are_moved = match done.ea {
            Ea::Local { rank, offset } if is_get && offset >= REGISTERS => {
                self.load_register(rank, offset, own)
            }
            ea if is_get => self.programs.process.copy(ea, own, done.size),
            ea => self.programs.process.copy(own, ea, done.size),
        };
        if !is_get {
            self.atomics.written(done.ea);
            self.lines_changed();
        }
        self.arrived(if is_get { own } else { done.ea });
        if !are_moved {
            self.transfer_failed(done.spe, done.entry);
        }
    }

    fn transfer_failed(&mut self, spe: u16, entry: u8) {
        let task = self.spes[spe as usize].task(self.out.now());
        let is_proxy = self.spes[spe as usize].mfc.is_proxy(entry);
        let context = self.context_of(task);
        match context.commands[entry as usize] {
            Some(command) if is_proxy => _ = context.proxy_fault.get_or_insert(command),
            Some(command) => self.fault(task, command),
            None => {}
        }
    }

    fn load_register(&mut self, of: u16, offset: u32, own: Ea) -> bool {
        let Some(context) = self.programs.context_mut(of) else { return false };
        let value = context.register(offset & !REGISTERS);
        let written = self.programs.process.pointer(own).map(|to| {
            // SAFETY: four aligned bytes of a store, as the command's rules say.
            unsafe { to.cast::<u32>().write_volatile(value) };
        });
        self.raise(of, spu_event::OUT_MBOX);
        self.nudge(of);
        written.is_some()
    }

    /// Records a context's first fault; the program stops at this call.
    pub(super) fn fault(&mut self, task: u16, command: ProgramCommand) {
        let context = self.context_of(task);
        let is_first = context.fault.is_none();
        context.fault.get_or_insert(command);
        if is_first && self.waiting_call(task).is_some() {
            self.context_of(task).spinning = None;
            self.end_call(task, 0, NO_ENTRY);
        }
    }

    pub(super) fn tags_changed(&mut self, task: u16, spe: u16) {
        let pending = self.spes[spe as usize].mfc.pending_tags();
        if self.context_of(task).meet_update(pending as u32) {
            self.raise(task, spu_event::TAG_STATUS);
            self.nudge(task);
        }
        if self.context_of(task).proxy_tags != 0 || pending == 0 {
            self.nudge_threads();
        }
    }

    pub fn update_tags(&mut self, task: u16, condition: crate::session::TagCondition) {
        let Some(spe) = self.context_of(task).seat else { return };
        let pending = self.spes[spe as usize].mfc.pending_tags() as u32;
        let context = self.context_of(task);
        (context.tag_update, context.tag_status) = (Some((condition, context.tag_mask)), None);
        if context.meet_update(pending) {
            self.raise(task, spu_event::TAG_STATUS);
        }
    }

    pub fn queue_room(&mut self, task: u16) -> usize {
        let seat = self.context_of(task).seat;
        seat.map_or(0, |spe| self.spes[spe as usize].mfc.room())
    }
}

fn order_of(kind: CommandKind) -> TransferOrder {
    match kind {
        CommandKind::Get(order) | CommandKind::Put(order) => order,
        _ => TransferOrder::Free,
    }
}
