//! Lines that C programs reserve and store.

use super::CellBeMachine;
use crate::channels::Ea;
use crate::session::context::ReservedLine;
use crate::session::process::AddressTarget;
use crate::session::{CommandKind, ProgramCommand, ReadChannel, SessionCall};

/// The status of atomic commands (Cell Broadband Engine Architecture): failed conditional store,
/// completed unconditional store, loaded line.
mod status {
    pub const FAILED: u32 = 1;
    pub const STORED: u32 = 2;
    pub const HELD: u32 = 4;
}

impl CellBeMachine {
    pub(super) fn atomic_command(&mut self, task: u16, spe: u16, command: ProgramCommand) {
        if !self.atomics.is_idle(spe) {
            return;
        }
        let writes = command.kind != CommandKind::Reserve;
        let at = match self.programs.process.find(command.effective, command.bytes) {
            Some(AddressTarget::Bytes(at))
                if self.programs.process.is_there(at, command.bytes, writes) =>
            {
                at
            }
            _ => return self.fault(task, command),
        };
        self.context_of(task).atomic = Some(command);
        let step = match command.kind {
            CommandKind::Reserve => self.atomics.get(spe, at, &mut self.out),
            kind => self.atomics.put(spe, at, kind == CommandKind::StoreConditional, &mut self.out),
        };
        // The calibrated halves of an atomic include the handing over of their commands.
        self.end_call(task, 0, 0);
        self.advance_atomic(spe, step);
    }

    pub(super) fn line_held(&mut self, spe: u16, at: Ea) {
        let task = self.spes[spe as usize].task(self.out.now());
        let Some(command) = self.context_of(task).atomic.take() else { return };
        let own = Ea::Local { rank: task, offset: command.local };
        let line = self.programs.process.line(at);
        if line.is_none() || !self.programs.process.copy(at, own, command.bytes) {
            return self.fault(task, command);
        }
        let context = self.context_of(task);
        context.reserved = line.map(|line| ReservedLine { at, line });
        context.atomic_status = Some(status::HELD);
        self.nudge(task);
    }

    /// Stores a program's line if the reservation is valid and the PPE has not changed it.
    pub(super) fn line_put(&mut self, spe: u16, at: Ea, is_valid: bool) {
        let task = self.spes[spe as usize].task(self.out.now());
        let Some(command) = self.context_of(task).atomic.take() else { return };
        let own = Ea::Local { rank: task, offset: command.local };
        let reserved = self.context_of(task).reserved.take();
        let process = &self.programs.process;
        let stored = match command.kind {
            CommandKind::Store | CommandKind::StoreQueued => {
                process.copy(own, at, command.bytes).then_some(true)
            }
            _ if !is_valid => Some(false),
            // The PPE's stores bypass the atomic units and show only in the line's bytes.
            _ => match (reserved.filter(|reserved| reserved.at == at), process.line(own)) {
                (Some(ReservedLine { line, .. }), Some(new)) => match process.line(at) {
                    Some(now) if now != line => Some(false),
                    Some(_) => process.exchange(at, &line, &new),
                    None => None,
                },
                _ => Some(false),
            },
        };
        let Some(is_stored) = stored else { return self.fault(task, command) };
        let status = match command.kind {
            CommandKind::StoreQueued => None,
            CommandKind::Store => Some(status::STORED),
            _ => Some(u32::from(!is_stored) * status::FAILED),
        };
        let context = self.context_of(task);
        context.atomic_status = status.or(context.atomic_status);
        if is_stored {
            self.lines_changed();
            self.arrived(at);
        }
        self.nudge(task);
    }

    pub(super) fn has_lost_line(&mut self, task: u16) -> bool {
        let context = self.context_of(task);
        let (Some(ReservedLine { at, line }), Some(spe)) = (context.reserved, context.seat) else {
            return false;
        };
        !self.atomics.has_reserved(spe, at) || self.programs.process.line(at) != Some(line)
    }

    /// Retries the calls of SPUs that wait for a reservation's loss.
    pub fn lines_changed(&mut self) {
        if self.programs.line_waiters == 0 {
            return;
        }
        let waiting: Vec<u16> = (0..self.tasks.len() as u16)
            .filter(|task| {
                matches!(self.waiting_call(*task), Some(SessionCall::Read(ReadChannel::Events)))
            })
            .collect();
        for task in waiting {
            self.nudge(task);
        }
    }
}
