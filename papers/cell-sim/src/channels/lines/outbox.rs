//! A task's outbound mailbox with one entry, which any task may read.

use super::lane::{MailLane, high, low, pair};
use seatmap_data::port::{Addr, Port};
use std::cell::Cell;

/// The writer's side of an outbox: a line that only the writer writes, and one on which readers
/// count the values that they read.
///
/// The writer usually knows without the second line that the entry is free, because a controller's
/// next message says so ([`MailLane`]). An exchange of mailbox and outbox thus costs one line each
/// way.
#[derive(Debug)]
pub struct OutboxWriter {
    line: Addr,
    taken_line: Addr,
    written: Cell<u64>,
}

impl OutboxWriter {
    pub fn new((line, taken_line): (Addr, Addr)) -> Self {
        OutboxWriter { line, taken_line, written: Cell::new(0) }
    }

    /// Writes the entry once the previous was read. `newest` is the last message's lane.
    #[inline]
    pub fn write<P: Port>(&self, port: &P, newest: &MailLane, value: u32) {
        let written = self.written.get();
        // The note can be late; then the readers' own count decides.
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

/// Reads an outbox, and returns the value with the number of values read so far; waits while it is
/// empty. Of several readers, the one whose count succeeds gets the entry.
pub fn read<P: Port>(port: &P, (line, taken_line): (Addr, Addr)) -> (u32, u32) {
    loop {
        let taken = port.load(taken_line);
        let found = port.load(line);
        // The entry's number is in its upper half, so readers need no second word.
        if high(found) != (taken + 1) as u32 {
            port.wait_while(line, found);
            continue;
        }
        // The writer leaves the entry unchanged until the count moves.
        if port.compare_exchange(taken_line, taken, taken + 1).is_ok() {
            return (low(found), (taken + 1) as u32);
        }
    }
}
