//! Mailboxes: 32-bit messages from one thread to another, over one cache line.

use crate::Polling;
use crate::bell::Bell;
use crate::primitive::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

/// Entries of a worker's inbound mailbox: the Cell's.
pub const INBOUND: usize = 4;

/// A value on a cache line of its own.
#[repr(align(64))]
struct Line<T>(T);

/// Entries carry their number beside their value, so that a reader looks at nothing but the entry: a message costs one
/// transfer of the line that holds them all. How many were read is written on another line, which the writer looks at only
/// when it knows of no free entry.
struct Shared<const ENTRIES: usize> {
    entries: Line<[AtomicU64; ENTRIES]>,
    read: Line<AtomicU32>,
    mail: Line<Bell>,
    room: Line<Bell>,
    polling: Polling,
}

/// The end that writes.
pub struct Writer<const ENTRIES: usize> {
    shared: Arc<Shared<ENTRIES>>,
    written: u32,
    known_read: u32,
}

/// The end that reads.
pub struct Reader<const ENTRIES: usize> {
    shared: Arc<Shared<ENTRIES>>,
    read: u32,
}

/// A mailbox of so many entries.
#[must_use]
pub fn mailbox<const ENTRIES: usize>(polling: Polling) -> (Writer<ENTRIES>, Reader<ENTRIES>) {
    let shared = Arc::new(Shared {
        entries: Line(std::array::from_fn(|_| AtomicU64::new(0))),
        read: Line(AtomicU32::new(0)),
        mail: Line(Bell::default()),
        room: Line(Bell::default()),
        polling,
    });
    (Writer { shared: Arc::clone(&shared), written: 0, known_read: 0 }, Reader { shared, read: 0 })
}

/// Number and value of a message in one word.
fn packed(number: u32, value: u32) -> u64 {
    u64::from(number) << 32 | u64::from(value)
}

impl<const ENTRIES: usize> Writer<ENTRIES> {
    /// Free entries.
    #[must_use]
    pub fn room(&self) -> usize {
        ENTRIES - self.written.wrapping_sub(self.shared.read.0.load(Ordering::Acquire)) as usize
    }

    /// Writes a message; waits while the mailbox is full.
    pub fn write(&mut self, value: u32) {
        if self.written.wrapping_sub(self.known_read) as usize >= ENTRIES {
            let (read, full_at) = (&self.shared.read.0, self.written.wrapping_sub(ENTRIES as u32));
            let other = || Some(read.load(Ordering::Acquire)).filter(|read| *read != full_at);
            self.known_read = self.shared.room.0.wait(self.shared.polling, other);
        }
        self.put(value);
    }

    /// Writes a message if there is room, and says whether there was.
    pub fn try_write(&mut self, value: u32) -> bool {
        if self.written.wrapping_sub(self.known_read) as usize >= ENTRIES {
            self.known_read = self.shared.read.0.load(Ordering::Acquire);
        }
        let has_room = (self.written.wrapping_sub(self.known_read) as usize) < ENTRIES;
        if has_room {
            self.put(value);
        }
        has_room
    }

    fn put(&mut self, value: u32) {
        let at = self.written as usize % ENTRIES;
        self.written = self.written.wrapping_add(1);
        self.shared.entries.0[at].store(packed(self.written, value), Ordering::Release);
        if self.shared.polling.may_sleep() {
            self.shared.mail.0.ring();
        }
    }
}

impl<const ENTRIES: usize> Reader<ENTRIES> {
    /// Reads the next message; waits while there is none.
    pub fn read(&mut self) -> u32 {
        let (entry, number) = self.next();
        let value = self.shared.mail.0.wait(self.shared.polling, || found(entry, number));
        self.took(number);
        value
    }

    /// Reads the next message if there is one.
    pub fn try_read(&mut self) -> Option<u32> {
        let (entry, number) = self.next();
        let value = found(entry, number)?;
        self.took(number);
        Some(value)
    }

    /// Whether a message waits.
    #[must_use]
    pub fn has_mail(&self) -> bool {
        let (entry, number) = self.next();
        found(entry, number).is_some()
    }

    fn next(&self) -> (&AtomicU64, u32) {
        (&self.shared.entries.0[self.read as usize % ENTRIES], self.read.wrapping_add(1))
    }

    fn took(&mut self, number: u32) {
        self.read = number;
        self.shared.read.0.store(number, Ordering::Release);
        if self.shared.polling.may_sleep() {
            self.shared.room.0.ring();
        }
    }
}

fn found(entry: &AtomicU64, number: u32) -> Option<u32> {
    let word = entry.load(Ordering::Acquire);
    ((word >> 32) as u32 == number).then_some(word as u32)
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn entries_are_few_and_kept_in_order() {
        let (mut writer, mut reader) = mailbox::<INBOUND>(Polling::Spin);
        assert!((0..4).all(|value| writer.try_write(value)));
        assert!(!writer.try_write(4));
        assert_eq!((writer.room(), reader.try_read()), (0, Some(0)));
        assert!(writer.room() == 1 && writer.try_write(4));
        assert_eq!(std::iter::from_fn(|| reader.try_read()).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(!reader.has_mail());
    }

    #[test]
    fn messages_arrive_once_each_under_every_policy() {
        for polling in [Polling::Adaptive(Duration::from_micros(5)), Polling::Sleep] {
            let (mut writer, mut reader) = mailbox::<1>(polling);
            let (mut back, mut answers) = mailbox::<INBOUND>(polling);
            std::thread::scope(|scope| {
                scope.spawn(move || (0..5000).for_each(|value| writer.write(value)));
                scope.spawn(move || (0..5000).for_each(|_| back.write(reader.read())));
                assert!((0..5000).all(|value| answers.read() == value), "{polling:?}");
            });
        }
    }

    #[test]
    fn numbers_may_wrap() {
        let (mut writer, mut reader) = mailbox::<INBOUND>(Polling::Spin);
        let near = u32::MAX - 5;
        (writer.written, writer.known_read, reader.read) = (near, near, near);
        writer.shared.read.0.store(near, Ordering::Relaxed);
        for value in 0..20 {
            writer.write(value);
            assert_eq!(reader.read(), value);
        }
    }
}
