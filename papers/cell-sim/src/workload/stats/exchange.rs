//! Round trips of messages.

use super::{Loop, LoopTimes};
use crate::channels::{ChannelProgram, Channels, OsService, ProgramNeeds, SignalNumber};

/// A message's transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageCarrier {
    /// Mailboxes.
    Mailbox,
    /// Signal registers.
    Signal,
}

/// Task 0 sends to task 1, which answers; each operation is a round trip (CellStats, sections 3.1.2
/// and 3.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageExchange {
    /// The transport of messages.
    pub means: MessageCarrier,
    /// Whether task 0 is a controller (the PPE), which reads the answer from the worker's outbound
    /// mailbox.
    pub has_controller: bool,
    /// Whether the controller uses a system call instead of the mapped register.
    pub by_system_call: bool,
    /// Untimed round trips before the timed ones.
    pub warm_up: u64,
    /// Timed round trips.
    pub iterations: u64,
}

impl ChannelProgram for MessageExchange {
    type Output = LoopTimes;

    fn shape(&self) -> ProgramNeeds {
        ProgramNeeds { tasks: 2, local_bytes: 128, memory_bytes: 128, signals_or: false }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> LoopTimes {
        let MessageExchange { warm_up, iterations, .. } = *self;
        let both = Loop { warm_up, iterations, tasks: 2, repeats: None };
        match (rank, self.has_controller) {
            (0, true) => both.timed_each(channels, |round| self.control(channels, round)),
            (0, false) => both.timed_each(channels, |round| self.begin(channels, round)),
            _ => both.timed_each(channels, |_| self.answer(channels)),
        }
    }
}

impl MessageExchange {
    fn control<C: Channels>(&self, channels: &C, round: u64) -> u64 {
        let value = word(round);
        if self.by_system_call {
            channels.service(if self.means == MessageCarrier::Mailbox {
                OsService::Mailbox
            } else {
                OsService::Signal
            });
        }
        match self.means {
            MessageCarrier::Mailbox => channels.mailbox_write(1, value),
            MessageCarrier::Signal => channels.signal(1, SignalNumber::One, value),
        }
        u64::from(channels.outbox_read(1))
    }

    fn begin<C: Channels>(&self, channels: &C, round: u64) -> u64 {
        self.tell(channels, 1, word(round));
        u64::from(self.hear(channels))
    }

    fn answer<C: Channels>(&self, channels: &C) -> u64 {
        let value = self.hear(channels);
        if self.has_controller {
            channels.outbox_write(value)
        } else {
            self.tell(channels, 0, value)
        }
        u64::from(value)
    }

    fn tell<C: Channels>(&self, channels: &C, to: usize, value: u32) {
        match self.means {
            MessageCarrier::Mailbox => channels.mailbox_write(to, value),
            MessageCarrier::Signal => channels.signal(to, SignalNumber::One, value),
        }
    }

    fn hear<C: Channels>(&self, channels: &C) -> u32 {
        match self.means {
            MessageCarrier::Mailbox => channels.mailbox_read(),
            MessageCarrier::Signal => channels.signal_read(SignalNumber::One),
        }
    }
}

/// A round's word. It is never zero, because a signal needs at least one bit.
fn word(round: u64) -> u32 {
    (round % 1_000_000) as u32 + 1
}
