//! An account of how each SPE spent its time, and how much it moved.

use super::{ReadChannel, SessionCall};
use serde::Serialize;

/// A category of an SPE program's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// Work between calls, as far as it is charged.
    Work,
    /// Handing commands to its MFC, reading channels and counts.
    Channels,
    /// Waiting for transfers.
    Transfers,
    /// Waiting for mailboxes, signals and events.
    Messages,
    /// Atomic commands.
    Atomics,
}

impl Spent {
    /// All categories, in the order of [`SpeAccount::cycles`].
    pub const ALL: [Spent; 5] =
        [Spent::Work, Spent::Channels, Spent::Transfers, Spent::Messages, Spent::Atomics];

    /// Its name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Spent::Work => "work",
            Spent::Channels => "channels",
            Spent::Transfers => "transfers",
            Spent::Messages => "messages",
            Spent::Atomics => "atomics",
        }
    }

    pub(crate) fn of(call: &SessionCall) -> Self {
        match call {
            SessionCall::Work(_) => Spent::Work,
            SessionCall::Command(command) if command.kind.is_atomic() => Spent::Atomics,
            SessionCall::Read(ReadChannel::TagStatus | ReadChannel::StallStatus)
            | SessionCall::AwaitStore => Spent::Transfers,
            SessionCall::Read(ReadChannel::AtomicStatus) => Spent::Atomics,
            SessionCall::Read(_) | SessionCall::Write(..) => Spent::Messages,
            _ => Spent::Channels,
        }
    }
}

/// The account of one SPE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpeAccount {
    /// Runs of programs, including resumptions.
    pub runs: u64,
    /// Core cycles of each category, in the order of [`Spent::ALL`].
    pub cycles: [u64; 5],
    /// Commands to the MFC.
    pub commands: u64,
    /// Bytes that it got.
    pub got_bytes: u64,
    /// Bytes that it put.
    pub put_bytes: u64,
}

impl SpeAccount {
    pub(crate) fn spend(&mut self, sort: Spent, cycles: u64) {
        self.cycles[sort as usize] += cycles;
    }
}
