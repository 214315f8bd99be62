//! Mailboxes: 32-bit messages between two threads, over one cache line each way.

use crate::Polling;
use crate::bell::Bell;
use crate::message::{message, numbered};
use crate::primitive::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

/// Entries of a worker's inbound mailbox, as on the Cell.
pub const INBOUND: u32 = 4;
/// Entries of its outbound mailbox.
pub const OUTBOUND: u32 = 1;
/// The most entries of a mailbox: with the count they fill a line.
const MOST: usize = 7;

/// The line that one end writes: its messages, and how many of the other end's messages it has
/// read.
///
/// The line of an answer also shows that there is room again, so a message and its answer move only
/// one line each.
#[repr(align(64))]
struct Side {
    entries: [AtomicU64; MOST],
    read: AtomicU32,
}

/// A sleeping end's bell, on a separate line. Its partner does not touch it while that end is
/// awake.
#[repr(align(64))]
struct Doorbell(Bell);

struct Shared {
    sides: [Side; 2],
    bells: [Doorbell; 2],
    polling: Polling,
}

/// One end of two mailboxes: it writes into one and reads the other.
pub struct MailboxEnd {
    shared: Arc<Shared>,
    me: usize,
    /// The entries of the mailbox that it writes, and of the one that it reads.
    entries: [u32; 2],
    /// The entry of the next message in each. A remainder would skip entries when numbers wrap,
    /// because 2^32 is not a multiple of 3, 5, 6 or 7.
    next: [u32; 2],
    written: u32,
    known_read: u32,
    read: u32,
}

/// Two mailboxes in opposite directions; the first end writes into the first. They have 1 to 7
/// entries.
pub fn mailboxes(entries: [u32; 2], polling: Polling) -> (MailboxEnd, MailboxEnd) {
    let entries = entries.map(|entries| entries.clamp(1, MOST as u32));
    let shared = Arc::new(Shared {
        sides: [side(), side()],
        bells: [Doorbell(Bell::default()), Doorbell(Bell::default())],
        polling,
    });
    (end(&shared, entries, 0), end(&shared, entries, 1))
}

fn side() -> Side {
    Side { entries: std::array::from_fn(|_| AtomicU64::new(0)), read: AtomicU32::new(0) }
}

fn end(shared: &Arc<Shared>, entries: [u32; 2], me: usize) -> MailboxEnd {
    MailboxEnd {
        shared: Arc::clone(shared),
        me,
        entries: [entries[me], entries[1 - me]],
        next: [0; 2],
        written: 0,
        known_read: 0,
        read: 0,
    }
}

impl MailboxEnd {
    /// Free entries of the mailbox that it writes into.
    pub fn room(&self) -> u32 {
        self.entries[0] - self.written.wrapping_sub(self.theirs().read.load(Ordering::Acquire))
    }

    /// Writes a message; waits while the mailbox is full. Returns false if the other end is gone,
    /// according to `is_gone`.
    pub fn write(&mut self, value: u32, is_gone: impl Fn() -> bool) -> bool {
        if self.seems_full() {
            let read = &self.theirs().read;
            let known = self.known_read;
            match self.bell().wait(
                self.shared.polling,
                || Some(read.load(Ordering::Acquire)).filter(|read| *read != known),
                is_gone,
            ) {
                Some(read) => self.known_read = read,
                None => return false,
            }
        }
        self.put(value);
        true
    }

    /// Writes a message if there is room, and returns whether there was.
    pub fn try_write(&mut self, value: u32) -> bool {
        if self.seems_full() {
            self.known_read = self.theirs().read.load(Ordering::Acquire);
        }
        let has_room = !self.seems_full();
        if has_room {
            self.put(value);
        }
        has_room
    }

    /// Whether the box was full at the last known count of the other end.
    fn seems_full(&self) -> bool {
        self.written.wrapping_sub(self.known_read) >= self.entries[0]
    }

    fn put(&mut self, value: u32) {
        let at = self.next[0];
        self.next[0] = within(at + 1, self.entries[0]);
        self.written = self.written.wrapping_add(1);
        self.ours().entries[at as usize].store(numbered(self.written, value), Ordering::Release);
        self.ring();
    }

    /// Reads the next message; waits while the mailbox is empty. `None` if the other end is gone,
    /// according to `is_gone`, and left no message.
    pub fn read(&mut self, is_gone: impl Fn() -> bool) -> Option<u32> {
        let (entry, number) = self.entry(0);
        let value = self.bell().wait(self.shared.polling, || found(entry, number), is_gone)?;
        self.took(number);
        Some(value)
    }

    /// Reads the next message, if any.
    pub fn try_read(&mut self) -> Option<u32> {
        let (entry, number) = self.entry(0);
        let value = found(entry, number)?;
        self.took(number);
        Some(value)
    }

    /// Waiting messages.
    pub fn waiting(&self) -> u32 {
        let messages = (0..self.entries[1]).map_while(|ahead| {
            let (entry, number) = self.entry(ahead);
            found(entry, number)
        });
        messages.count() as u32
    }

    /// The entry and number of a message, counted from the next.
    fn entry(&self, ahead: u32) -> (&AtomicU64, u32) {
        let at = within(self.next[1] + ahead, self.entries[1]);
        (&self.theirs().entries[at as usize], self.read.wrapping_add(ahead).wrapping_add(1))
    }

    fn took(&mut self, number: u32) {
        self.read = number;
        self.next[1] = within(self.next[1] + 1, self.entries[1]);
        self.ours().read.store(number, Ordering::Release);
        self.ring();
    }

    fn ours(&self) -> &Side {
        &self.shared.sides[self.me]
    }

    fn theirs(&self) -> &Side {
        &self.shared.sides[1 - self.me]
    }

    fn bell(&self) -> &Bell {
        &self.shared.bells[self.me].0
    }

    /// Wakes the other end.
    pub fn ring(&self) {
        if self.shared.polling.may_sleep() {
            self.shared.bells[1 - self.me].0.ring();
        }
    }
}

fn within(place: u32, entries: u32) -> u32 {
    if place < entries { place } else { place - entries }
}

fn found(entry: &AtomicU64, number: u32) -> Option<u32> {
    message(entry.load(Ordering::Acquire), number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn never() -> bool {
        false
    }

    #[test]
    fn dropped_end_delivers_last_message_and_ends_waits() {
        for polling in [Polling::Spin, Polling::Adaptive(Duration::from_micros(5)), Polling::Sleep]
        {
            let (mut near, mut far) = mailboxes([INBOUND, OUTBOUND], polling);
            assert!(far.write(7, never));
            assert_eq!((near.read(|| true), near.read(|| true)), (Some(7), None));
            assert!(far.write(8, never) && !far.write(9, || true));
        }
    }

    #[test]
    fn full_mailbox_refuses_and_keeps_order() {
        let (mut writer, mut reader) = mailboxes([INBOUND, OUTBOUND], Polling::Spin);
        assert!((0..4).all(|value| writer.try_write(value)));
        assert!(!writer.try_write(4));
        assert_eq!((writer.room(), reader.waiting(), reader.try_read()), (0, 4, Some(0)));
        assert_eq!((reader.waiting(), writer.waiting()), (3, 0));
        assert!(writer.room() == 1 && writer.try_write(4));
        assert_eq!(std::iter::from_fn(|| reader.try_read()).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(reader.waiting() == 0 && reader.try_write(9) && !reader.try_write(9));
    }

    #[test]
    fn messages_arrive_once_under_every_policy() {
        for polling in [Polling::Adaptive(Duration::from_micros(5)), Polling::Sleep] {
            let (mut near, mut far) = mailboxes([INBOUND, OUTBOUND], polling);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    for _ in 0..5000 {
                        let value = far.read(never).unwrap();
                        assert!(far.write(value, never));
                    }
                });
                for value in 0..4 {
                    assert!(near.write(value, never));
                }
                for value in 4..5004 {
                    assert_eq!(near.read(never), Some(value - 4), "{polling:?}");
                    if value < 5000 {
                        assert!(near.write(value, never));
                    }
                }
            });
        }
    }

    #[test]
    fn message_counters_may_wrap() {
        let (mut writer, mut reader) = mailboxes([INBOUND, OUTBOUND], Polling::Spin);
        // After the wrap every entry has been written once, as after 2^32 messages.
        let near = u32::MAX - 7;
        (writer.written, writer.known_read, reader.read) = (near, near, near);
        reader.ours().read.store(near, Ordering::Relaxed);
        for value in 0..20 {
            assert!(writer.write(value, never));
            assert_eq!(reader.read(never), Some(value));
        }
    }

    #[test]
    fn message_counters_may_wrap_in_full_mailbox() {
        for entries in 1..=MOST as u32 {
            let (mut writer, mut reader) = mailboxes([entries, OUTBOUND], Polling::Spin);
            let near = 0_u32.wrapping_sub(entries / 2 + 1);
            (writer.written, writer.known_read, reader.read) = (near, near, near);
            reader.ours().read.store(near, Ordering::Relaxed);
            assert!((0..entries).all(|value| writer.try_write(value)));
            let read: Vec<u32> = std::iter::from_fn(|| reader.try_read()).collect();
            assert_eq!(read, (0..entries).collect::<Vec<u32>>());
        }
    }
}
