//! A session's records of its programs, for accounts and for the trace.

use super::{CellBeMachine, TaskElement};
use crate::session::{CommandKind, Outbound, ProgramCommand, SessionCall, Spent};
use crate::trace::{TracedTransfer, TrackGroup};

impl CellBeMachine {
    /// A task's turn ends its previous call.
    pub(super) fn note_call_ended(&mut self, task: u16, called: Option<(&'static str, u64)>) {
        let now = self.out.now();
        let seat = self.tasks[task as usize].seat;
        if let (TaskElement::Spe(spe), Some((sort, since))) =
            (seat, self.tasks[task as usize].progress.spends.take())
        {
            self.programs.accounts[spe as usize].spend(sort, now - since);
        }
        let (Some((name, began)), Some((group, track))) = (called, self.track(task)) else {
            return;
        };
        if let Some(trace) = &mut self.trace {
            trace.program(group, track, name, began, now);
        }
    }

    pub(super) fn note_call(&mut self, task: u16, call: &SessionCall, work: u64) {
        let now = self.out.now();
        self.tasks[task as usize].progress.spends = Some((Spent::of(call), now + work));
        let TaskElement::Spe(spe) = self.tasks[task as usize].seat else {
            return self.trace_work(task, work);
        };
        self.programs.accounts[spe as usize].spend(Spent::Work, work);
        self.trace_work(task, work);
    }

    fn trace_work(&mut self, task: u16, work: u64) {
        let now = self.out.now();
        if let (true, Some((group, track)), Some(trace)) =
            (work > 0, self.track(task), &mut self.trace)
        {
            trace.program(group, track, "work", now, now + work);
        }
    }

    fn track(&self, task: u16) -> Option<(TrackGroup, u32)> {
        match self.tasks[task as usize].seat {
            TaskElement::Spe(spe) => Some((TrackGroup::Spes, spe.into())),
            TaskElement::Ppe(_) => Some((TrackGroup::Threads, task.into())),
            TaskElement::Stored => None,
        }
    }

    pub(super) fn note_command(
        &mut self,
        task: u16,
        spe: u16,
        entry: u8,
        command: ProgramCommand,
        bytes: u32,
    ) {
        let account = &mut self.programs.accounts[spe as usize];
        account.commands += 1;
        match command.kind {
            CommandKind::Get(_) => account.got_bytes += u64::from(bytes),
            _ => account.put_bytes += u64::from(bytes),
        }
        let now = self.out.now();
        let number = account.commands;
        let ProgramCommand { name, local, effective, tag, .. } = command;
        let id = self.trace.is_some().then_some(u64::from(spe) << 40 | number);
        if let (Some(trace), Some(id)) = (&mut self.trace, id) {
            trace.transfer_begins(
                spe.into(),
                now,
                TracedTransfer { name, id, bytes, tag, local, effective },
            );
        }
        let context = self.context_of(task);
        (context.commands[entry as usize], context.traced[entry as usize]) = (Some(command), id);
    }

    pub(super) fn note_progress(&mut self, task: u16, spe: u16, entry: u8) {
        if self.trace.is_none() || self.spes[spe as usize].mfc.holds(entry) {
            return;
        }
        let now = self.out.now();
        let context = self.context_of(task);
        let ended = context.traced[entry as usize].take().zip(context.commands[entry as usize]);
        if let (Some((id, command)), Some(trace)) = (ended, &mut self.trace) {
            trace.transfer_ends(spe.into(), now, command.name, id);
        }
    }

    pub(super) fn note_messages(&mut self, task: u16, mailbox: Option<Outbound>) {
        let now = self.out.now();
        let (Some(trace), Some(context)) = (&mut self.trace, self.programs.context(task)) else {
            return;
        };
        let Some(spe) = context.seat else { return };
        let (name, messages) = match mailbox {
            None => ("inbound mailbox", context.inbound.filled()),
            Some(which) => {
                let name = if which == Outbound::Plain {
                    "outbound mailbox"
                } else {
                    "interrupting mailbox"
                };
                (name, usize::from(!context.mailbox(which).has_room()))
            }
        };
        trace.messages(spe.into(), name, now, messages as u32);
    }

    pub fn name_thread(&mut self, task: u16, number: u32) {
        if let Some(trace) = &mut self.trace {
            trace.name(TrackGroup::Threads, Some(task.into()), format!("PPE thread {number}"));
        }
    }
}
