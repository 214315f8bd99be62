//! Mailboxes and signals: mapped registers that others write.

use crate::cell::request::Request;
use crate::cell::world::{MAILBOX, World};

/// Entries of an inbound mailbox (Cell Broadband Engine Architecture).
const ENTRIES: usize = 4;

/// An SPE's registers.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    mailbox: Vec<u32>,
    /// Messages that found the mailbox full, in order.
    held_back: Vec<u32>,
    pub outbox: Option<u32>,
    signals: [u32; 2],
}

impl Registers {
    pub fn has_room(&self) -> bool {
        self.mailbox.len() < ENTRIES
    }

    fn take_message(&mut self) -> Option<u32> {
        if self.mailbox.is_empty() {
            return None;
        }
        let value = self.mailbox.remove(0);
        if !self.held_back.is_empty() {
            self.mailbox.push(self.held_back.remove(0));
        }
        Some(value)
    }

    fn take_signal(&mut self, register: u8) -> Option<u32> {
        let signal = &mut self.signals[register as usize % 2];
        (*signal != 0).then(|| std::mem::take(signal))
    }
}

impl World {
    /// A message or a signal reaches a task's register.
    pub fn told(&mut self, to: u16, register: u8, value: u32) {
        let Some(spe) = self.spe_of(to) else { return };
        let or = self.signals_or;
        let registers = &mut self.spes[spe].registers;
        if register == MAILBOX {
            let queue = if registers.has_room() { &mut registers.mailbox } else { &mut registers.held_back };
            queue.push(value);
        } else {
            let signal = &mut registers.signals[register as usize % 2];
            *signal = if or { *signal | value } else { value };
        }
        self.read_on(to);
    }

    /// A task that waits for a message or a signal gets it, if it is there.
    pub fn read_on(&mut self, task: u16) {
        let Some(spe) = self.spe_of(task) else { return };
        let registers = &mut self.spes[spe].registers;
        let value = match self.tasks[task as usize].request {
            Some(Request::MailboxRead) => registers.take_message(),
            Some(Request::SignalRead(register)) => registers.take_signal(register),
            _ => return,
        };
        if let Some(value) = value {
            self.tasks[task as usize].request = None;
            self.wake(task, self.timing.channel, u64::from(value));
        }
    }
}
