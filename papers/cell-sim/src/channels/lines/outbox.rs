//! A task's outbound mailbox of one entry, which anybody may read.

use super::lane::{MailLane, high, low, pair};
use seatmap_data::port::{Addr, Port};
use std::cell::Cell;

/// The writer's side of an outbox: a line that it alone writes, and a line on which readers count
/// what they took.
///
/// Whether the entry is gone a writer mostly knows without looking: a controller's next message
/// tells it ([`MailLane`]). So an exchange of mailbox and outbox costs one line each way, too.
#[derive(Debug)]
pub(super) struct OutboxWriter {
    line: Addr,
    taken_line: Addr,
    written: Cell<u64>,
}

impl OutboxWriter {
    pub(super) fn new((line, taken_line): (Addr, Addr)) -> Self {
        OutboxWriter { line, taken_line, written: Cell::new(0) }
    }

    /// Writes the entry; waits until the one before is gone. `newest` is the lane on which the last
    /// message came.
    #[inline]
    pub(super) fn write<P: Port>(&self, port: &P, newest: &MailLane, value: u32) {
        let written = self.written.get();
        // A note may be late, and then the readers' own count decides.
        if written > 0 && newest.noted_taken(port) != written as u32 {
            self.wait_for_readers(port);
        }
        port.store(self.line, pair(value, (written + 1) as u32));
        self.written.set(written + 1);
    }

    #[cold]
    fn wait_for_readers<P: Port>(&self, port: &P) {
        let mut taken = port.load(self.taken_line);
        while taken < self.written.get() {
            taken = port.wait_while(self.taken_line, taken);
        }
    }
}

/// Reads an outbox, and returns the value with how many are gone now; waits while it is empty. Of
/// several readers one gets the entry: the one whose count goes through.
pub(super) fn read<P: Port>(port: &P, (line, taken_line): (Addr, Addr)) -> (u32, u32) {
    loop {
        let taken = port.load(taken_line);
        let found = port.load(line);
        // An entry carries its number in the upper half, so its reader looks at no second word.
        if high(found) != (taken + 1) as u32 {
            port.wait_while(line, found);
            continue;
        }
        // The writer leaves the entry alone until the count has moved, so it is still what was
        // read.
        if port.compare_exchange(taken_line, taken, taken + 1).is_ok() {
            return (low(found), (taken + 1) as u32);
        }
    }
}
