//! The calls of a C program's PPE threads.

use super::CellBeMachine;
use crate::event::CellBeEvent;
use crate::mailbox::INBOUND_ENTRIES;
use crate::mfc::PROXY_TAGS;
use crate::request::ChannelCall;
use crate::session::context::{ppe_event, spu_event};
use crate::session::{
    MailboxCount, Outbound, ProgramCommand, SessionCall, TagCondition, WatchedEvents,
};
use crate::transaction::MappedRegister;

const FOUND: u64 = 1 << 32;

impl CellBeMachine {
    pub(super) fn thread_call(&mut self, task: u16, chip: u8, call: SessionCall) {
        match call {
            SessionCall::Send { to, value, by_kernel } => {
                self.send(task, chip, to, value, by_kernel)
            }
            SessionCall::Receive { from, mailbox: Outbound::Plain, looks } => {
                self.receive(task, chip, from, looks)
            }
            SessionCall::Receive { from, .. } => self.receive_interrupting(task, from),
            SessionCall::Count { of, what, looks } => self.look_at(task, chip, of, what, looks),
            SessionCall::Signal { to, register, value, by_kernel } => {
                let kernel = if by_kernel { self.timing.signal_call } else { 0 };
                if !self.first_after(task, kernel) {
                    self.post(chip, to, MappedRegister::Signal(register), value);
                    self.end_call(task, self.timing.channel, 0);
                }
            }
            SessionCall::Await { of, what } => {
                if self.count_of(of, what) != 0 {
                    self.end_call(task, 0, 0);
                }
            }
            SessionCall::AwaitEvents { watched_events, count, until } => {
                // SAFETY: the thread that owns the sets waits until this call is done.
                let watched_events = unsafe { std::slice::from_raw_parts(watched_events, count) };
                self.await_events(task, watched_events, until);
            }
            SessionCall::TimeBase => self.end_call(task, self.timing.channel, self.tick()),
            SessionCall::Clock => self.end_call(task, self.timing.channel, self.out.now()),
            SessionCall::Proxy(context, command) => self.proxy(task, context, command),
            SessionCall::AwaitProxies { of, mask, condition } => {
                self.await_proxies(task, of, mask, condition)
            }
            SessionCall::Run { context, is_fresh } => self.run(task, context, is_fresh),
            SessionCall::Destroy(context) => {
                if self.is_quiet(context) {
                    self.end_call(task, 0, 0);
                    self.remove_context(context);
                }
            }
            // It was woken while it worked, before it parked.
            SessionCall::Park { .. } if self.tasks[task as usize].progress.is_woken => {
                self.end_call(task, 0, 1)
            }
            SessionCall::Park { until, .. } => {
                if let Some(until) = until {
                    self.set_timer(task, until);
                }
            }
            _ => self.cannot(task, &ChannelCall::Program(call)),
        }
    }

    /// Whether this is a call's first step; if so, the next follows after this many cycles.
    fn first_after(&mut self, task: u16, cycles: u64) -> bool {
        let is_first =
            !std::mem::replace(&mut self.tasks[task as usize].has_polled, true) && cycles > 0;
        if is_first {
            self.out.send(self.out.now() + cycles, CellBeEvent::Retry(task));
        }
        is_first
    }

    fn ways(&self, chip: u8, context: u16) -> (u64, u64) {
        let seat = self.programs.context(context).and_then(|context| context.seat);
        if seat.is_some_and(|spe| self.spes[spe as usize].node().chip != chip) {
            (self.timing.ppe_load_far, self.timing.ppe_room_far)
        } else {
            (self.timing.ppe_load, self.timing.ppe_room)
        }
    }

    /// Sends a posted store, which arrives after half a load's time.
    fn post(&mut self, chip: u8, to: u16, register: MappedRegister, value: u32) {
        let load = self.ways(chip, to).0;
        self.out
            .send(self.out.now() + load / 2, CellBeEvent::RegisterWrite { to, register, value });
    }

    fn send(&mut self, task: u16, chip: u8, to: u16, value: u32, by_kernel: bool) {
        let kernel = if by_kernel { self.timing.mailbox_call } else { 0 };
        let look = self.ways(chip, to).1 + kernel;
        if self.first_after(task, look) {
            return;
        }
        let has_room = self.programs.context(to).is_some_and(|context| context.inbound.has_room());
        if has_room {
            self.post(chip, to, MappedRegister::Mailbox, value);
        }
        self.end_call(task, if has_room { self.timing.channel } else { 0 }, u64::from(has_room));
    }

    /// Loads the outbound mailbox's status, which is seen at half of the time, and then the
    /// mailbox.
    fn receive(&mut self, task: u16, chip: u8, from: u16, looks: u32) {
        let load = self.ways(chip, from).0;
        // The register is read half-way; the answer takes the other half.
        if self.first_after(task, load / 2) {
            return;
        }
        match self.take_message(from, Outbound::Plain) {
            // The status answer takes the other half, and the mailbox a further load.
            Some(value) => self.end_call(task, load - load / 2 + load, FOUND | u64::from(value)),
            None => self.look_again(task, load, looks),
        }
    }

    fn take_message(&mut self, from: u16, mailbox: Outbound) -> Option<u32> {
        let value = self.programs.context_mut(from)?.mailbox_mut(mailbox).read()?;
        self.note_messages(from, Some(mailbox));
        let is_plain = mailbox == Outbound::Plain;
        self.raise(from, if is_plain { spu_event::OUT_MBOX } else { spu_event::OUT_INTR_MBOX });
        self.nudge(from);
        Some(value)
    }

    fn look_again(&mut self, task: u16, load: u64, looks: u32) {
        let progress = &mut self.tasks[task as usize].progress;
        progress.looks += 1;
        if progress.looks < looks {
            self.out.send(self.out.now() + load, CellBeEvent::Retry(task))
        } else {
            self.end_call(task, load - load / 2, 0)
        }
    }

    /// Only the operating system can read the interrupting mailbox.
    fn receive_interrupting(&mut self, task: u16, from: u16) {
        if self.first_after(task, self.timing.mailbox_call) {
            return;
        }
        let found = self.take_message(from, Outbound::Interrupting);
        self.end_call(task, 0, found.map_or(0, |value| FOUND | u64::from(value)));
    }

    fn look_at(&mut self, task: u16, chip: u8, of: u16, what: MailboxCount, looks: u32) {
        let load = self.ways(chip, of).0;
        if self.first_after(task, load / 2) {
            return;
        }
        match self.count_of(of, what) {
            0 => self.look_again(task, load, looks),
            count => self.end_call(task, load - load / 2, count),
        }
    }

    fn count_of(&self, of: u16, what: MailboxCount) -> u64 {
        let Some(context) = self.programs.context(of) else { return 0 };
        match what {
            MailboxCount::InboundRoom => (INBOUND_ENTRIES - context.inbound.filled()) as u64,
            MailboxCount::Status => u64::from(context.mailbox_status()),
            // Outbound mailboxes have one entry, so a full one holds a message.
            MailboxCount::Waiting(mailbox) => u64::from(!context.mailbox(mailbox).has_room()),
        }
    }

    fn await_events(&mut self, task: u16, watched_events: &[WatchedEvents], until: Option<u64>) {
        if watched_events.iter().any(|one| self.happened(one.context) & one.events != 0) {
            return self.end_call(task, self.timing.mailbox_call, 1);
        }
        // One timer is enough, however often the call is retried.
        let has_waited = std::mem::replace(&mut self.tasks[task as usize].has_polled, true);
        match until {
            Some(until) if until <= self.out.now() => {
                self.end_call(task, self.timing.mailbox_call, 0)
            }
            Some(until) if !has_waited => self.set_timer(task, until),
            _ => {}
        }
    }

    pub fn happened(&self, context: u16) -> u32 {
        let Some(state) = self.programs.context(context) else { return 0 };
        event_if(!state.interrupting.has_room(), ppe_event::OUT_INTR_MBOX)
            | event_if(state.inbound.has_room(), ppe_event::IN_MBOX)
            | event_if(self.complete_proxies(context) != 0, ppe_event::TAG_GROUP)
            | event_if(state.ends > 0, ppe_event::STOPPED)
    }

    /// Unread tags of complete proxy commands.
    pub fn complete_proxies(&self, context: u16) -> u32 {
        let Some(state) = self.programs.context(context) else { return 0 };
        let pending =
            state.seat.map_or(0, |spe| self.spes[spe as usize].mfc.pending_tags() >> PROXY_TAGS);
        state.proxy_tags & !(pending as u32)
    }

    /// Hands a context's MFC a proxy command, once the context has an SPE and the queue has room.
    /// Loading the command's status enqueues it.
    fn proxy(&mut self, task: u16, context: u16, command: ProgramCommand) {
        if !self.take_seat(context) {
            return;
        }
        let Some(spe) = self.context_of(context).seat else { return };
        if self.spes[spe as usize].mfc.proxy_room() == 0 {
            return;
        }
        let is_empty = command.bytes == 0;
        let entry = if is_empty {
            Some(0)
        } else {
            self.enqueue_command(context, spe, command, command.tag + PROXY_TAGS)
        };
        self.context_of(context).proxy_tags |= 1 << command.tag;
        self.end_call(task, self.timing.ppe_load, u64::from(entry.is_some()));
    }

    fn await_proxies(&mut self, task: u16, of: u16, mask: u32, condition: TagCondition) {
        let state = self.context_of(of);
        // An empty mask means the tags of all commands.
        let mask = if mask == 0 { state.proxy_tags } else { mask };
        let pending = state.proxy_tags & !self.complete_proxies(of);
        let complete = mask & !pending;
        let is_over = match condition {
            TagCondition::Immediate => true,
            TagCondition::Any => complete != 0 || mask == 0,
            TagCondition::All => complete == mask,
        };
        if is_over {
            self.context_of(of).proxy_tags &= !complete;
            self.end_call(task, self.timing.ppe_load, u64::from(complete));
        }
    }

    fn set_timer(&mut self, task: u16, until: u64) {
        let number = self.tasks[task as usize].progress.number as u32;
        let at = until.max(self.out.now());
        self.out.send(at, CellBeEvent::Timer { task, number });
    }

    /// Timers of earlier waits have no effect.
    pub(super) fn time_is_up(&mut self, task: u16, number: u32) {
        if let Some(context) = self.programs.context_mut(task) {
            if context.timer == number {
                self.nudge(task);
            }
            return;
        }
        let state = &self.tasks[task as usize];
        let waits = matches!(
            state.request,
            Some(ChannelCall::Program(
                SessionCall::Park { until: Some(_), .. }
                    | SessionCall::AwaitEvents { until: Some(_), .. }
            ))
        );
        if waits && state.progress.number as u32 == number {
            self.end_call(task, 0, 0);
        }
    }

    /// Wakes up to `most` threads that wait for a key, in order of arrival, and returns their
    /// number. A thread that still works before it parks does not park, because it has already
    /// checked its condition.
    pub fn wake(&mut self, key: u64, most: usize) -> usize {
        let mut parked: Vec<u16> = (0..self.tasks.len() as u16)
            .filter(|task| {
                let state = &self.tasks[*task as usize];
                let parks = matches!(
                    state.request,
                    Some(ChannelCall::Program(SessionCall::Park { key: at, .. })) if at == key
                );
                parks && !state.progress.is_woken
            })
            .collect();
        parked.sort_by_key(|task| self.tasks[*task as usize].progress.number);
        parked.truncate(most);
        for task in &parked {
            if self.tasks[*task as usize].progress.has_begun {
                self.end_call(*task, 0, 1)
            } else {
                self.tasks[*task as usize].progress.is_woken = true
            }
        }
        parked.len()
    }
}

fn event_if(holds: bool, event: u32) -> u32 {
    if holds { event } else { 0 }
}
