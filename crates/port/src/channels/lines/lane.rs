//! Mail from one task to another, on one cache line each way.

use crate::{Addr, Port};
use std::cell::Cell;

/// Entries of a lane, in its first words: `sequence << 32 | value`. More than the mailbox of the Cell has, since the
/// receiver does not report every entry: with at most two unreported there is always room for four.
const SLOTS: u64 = 6;

/// Unreported entries at which the receiver reports.
const REPORT_AT: u64 = 3;

/// The word for how many entries its writer has received on the lane back.
const RECEIVED: u32 = 6;

/// The word for how many values its writer knows to have been taken from the reader's outbox.
const TAKEN: u32 = 7;

/// What one task remembers of its mail with another.
///
/// A lane is written by one task and read by one. Its sequence numbers say which entries are new, so the receiver has
/// nothing to clear, and what it reports rides on the line of its own mail: a message that is answered by a message costs
/// one line each way, as much as the hardware can do. Only where no mail goes back does a report cost a line of its own,
/// every third entry. (The single-producer ring of Lamport 1983, with the cached indices of FastForward, Giacomoni et al.
/// 2008, and credits.)
#[derive(Debug)]
pub(super) struct Lane {
    /// Written by this task.
    out: Addr,
    /// Written by the other.
    back: Addr,
    sent: Cell<u64>,
    /// How many of those the other is known to have received.
    arrived: Cell<u64>,
    received: Cell<u64>,
    reported: Cell<u64>,
    /// Values known to have been taken from the other's outbox, and how many of those it was told of.
    taken: Cell<u64>,
    taken_told: Cell<u64>,
}

impl Lane {
    pub(super) fn new(out: Addr, back: Addr) -> Self {
        let zero = || Cell::new(0);
        Lane {
            out,
            back,
            sent: zero(),
            arrived: zero(),
            received: zero(),
            reported: zero(),
            taken: zero(),
            taken_told: zero(),
        }
    }

    /// Sends a value; waits while the lane is full.
    #[inline]
    pub(super) fn send<P: Port>(&self, port: &P, value: u32) {
        let sent = self.sent.get();
        if sent - self.arrived.get() >= SLOTS {
            self.wait_for_room(port);
        }
        self.report(port);
        port.store(self.out.word((sent % SLOTS) as u32), entry(sent + 1, value));
        self.sent.set(sent + 1);
    }

    #[cold]
    fn wait_for_room<P: Port>(&self, port: &P) {
        let report = self.back.word(RECEIVED);
        let mut arrived = port.load(report);
        while self.sent.get() - arrived >= SLOTS {
            arrived = port.wait_while(report, arrived);
        }
        self.arrived.set(arrived);
    }

    /// Says on the own line what this task has received and taken, where that is news.
    #[inline]
    fn report<P: Port>(&self, port: &P) {
        if self.reported.get() != self.received.get() {
            self.reported.set(self.received.get());
            port.store(self.out.word(RECEIVED), self.received.get());
        }
        if self.taken_told.get() != self.taken.get() {
            self.taken_told.set(self.taken.get());
            port.store(self.out.word(TAKEN), self.taken.get());
        }
    }

    /// The next value, where it has come.
    #[inline]
    pub(super) fn try_receive<P: Port>(&self, port: &P) -> Option<u32> {
        let received = self.received.get();
        let found = port.load(self.back.word((received % SLOTS) as u32));
        (sequence(found) == (received + 1) as u32).then(|| self.take(port, found))
    }

    /// The next value; waits for it.
    #[inline]
    pub(super) fn receive<P: Port>(&self, port: &P) -> u32 {
        let received = self.received.get();
        let slot = self.back.word((received % SLOTS) as u32);
        let mut found = port.load(slot);
        while sequence(found) != (received + 1) as u32 {
            found = port.wait_while(slot, found);
        }
        self.take(port, found)
    }

    #[inline]
    fn take<P: Port>(&self, port: &P, found: u64) -> u32 {
        self.received.set(self.received.get() + 1);
        if self.received.get() - self.reported.get() >= REPORT_AT {
            self.report(port);
        }
        found as u32
    }

    /// Whether a task that writes to itself has something to read.
    pub(super) fn is_waiting_for_itself(&self) -> bool {
        self.sent.get() > self.received.get()
    }

    /// Notes how many values are gone from the other's outbox; the next message tells it.
    pub(super) fn note_taken(&self, taken: u64) {
        self.taken.set(taken);
    }

    /// How many values the other knows to be gone from this task's outbox.
    pub(super) fn told_taken<P: Port>(&self, port: &P) -> u64 {
        port.load(self.back.word(TAKEN))
    }
}

/// A value with the number that shows whether it is new.
#[inline]
pub(super) fn entry(sequence: u64, value: u32) -> u64 {
    sequence << 32 | u64::from(value)
}

/// The number of an entry, modulo 2^32.
#[inline]
pub(super) fn sequence(entry: u64) -> u32 {
    (entry >> 32) as u32
}
