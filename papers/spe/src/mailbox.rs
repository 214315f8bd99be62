//! The three mailboxes of an SPE: four messages to the SPU, one from it, and one from it that
//! raises an event.
//!
//! Each message moves one cache line between the processors. The PPE writes one line, the SPU
//! another: numbered messages, and the counts of received ones. So a question and its answer move
//! each line once, like a bare flag.
//!
//! | line | written by | contents |
//! |---|---|---|
//! | down | the PPE | the messages to the SPU; the counts received from its mailboxes |
//! | up | the SPU | the messages from it; the count that it received |
//!
//! A lock in its own line serialises the PPE's threads. It does not wait for earlier stores, so an
//! answer and the next question leave together. Nothing here waits for a message;
//! [`Notify`](crate::notify::Notify) does. In [`SpeStyle::Linux`] words pass through pipes, with
//! one system call each.

use crate::biased::Biased;
use crate::style::SpeStyle;
use seatmap_worker::message::{message, numbered};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The messages that the mailbox to the SPU holds.
pub const IN_CAPACITY: u32 = 4;

/// One of the mailboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mailbox {
    /// The mailbox to the SPU.
    In,
    /// The mailbox from the SPU.
    Out,
    /// The mailbox from the SPU that raises an event.
    OutInterrupting,
}

/// A message that the SPU took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailboxMessage {
    /// The message.
    pub value: u32,
    /// Whether the mailbox was full, so that a sender may wait.
    pub was_full: bool,
}

/// Counts of mailbox events that the SPU can wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailboxCounts {
    /// Messages sent to it.
    pub sent: u32,
    /// Messages received from its plain mailbox.
    pub out: u32,
    /// Messages received from its interrupting mailbox.
    pub out_interrupting: u32,
}

/// The number in the upper half identifies the message.
#[derive(Debug, Default)]
struct Slot(AtomicU64);

impl Slot {
    fn put(&self, number: u32, value: u32) {
        self.0.store(numbered(number, value), Ordering::Release);
    }

    fn get(&self, number: u32) -> Option<u32> {
        message(self.0.load(Ordering::Acquire), number)
    }
}

/// The line that the PPE writes, aligned to two lines, because processors fetch pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Down {
    slots: [Slot; IN_CAPACITY as usize],
    taken: [AtomicU32; 2],
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Up {
    slots: [Slot; 2],
    taken: AtomicU32,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Ppe {
    lock: Biased,
    sent: AtomicU32,
}

/// Known only to the SPU.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Spu {
    sent: [AtomicU32; 2],
}

/// The mailboxes of one SPE.
#[derive(Debug, Default)]
pub struct Mailboxes {
    down: Down,
    up: Up,
    ppe: Ppe,
    spu: Spu,
    pipes: Option<[Pipe; 3]>,
}

#[derive(Debug)]
struct Pipe {
    read: File,
    write: File,
}

impl Pipe {
    fn new() -> std::io::Result<Self> {
        let (read, write) = std::io::pipe()?;
        Ok(Pipe { read: OwnedFd::from(read).into(), write: OwnedFd::from(write).into() })
    }

    /// The mailbox's count keeps the pipe from being full.
    fn put(&self, value: u32) {
        let written = (&self.write).write_all(&value.to_ne_bytes());
        debug_assert!(written.is_ok(), "{written:?}");
    }

    fn get(&self) -> u32 {
        let mut bytes = [0; 4];
        let read = (&self.read).read_exact(&mut bytes);
        debug_assert!(read.is_ok(), "{read:?}");
        u32::from_ne_bytes(bytes)
    }
}

impl Mailboxes {
    /// Empty mailboxes.
    ///
    /// # Errors
    /// The kernel's error: there are no more pipes.
    pub fn new(style: SpeStyle) -> std::io::Result<Self> {
        let pipes = match style {
            SpeStyle::Cell => None,
            SpeStyle::Linux => Some([Pipe::new()?, Pipe::new()?, Pipe::new()?]),
        };
        Ok(Mailboxes { pipes, ..Mailboxes::default() })
    }

    fn pipe(&self, mailbox: Mailbox) -> Option<&Pipe> {
        self.pipes.as_ref().map(|pipes| &pipes[mailbox as usize])
    }

    /// On the PPE: sends a message to the SPU. Returns false if there is no room.
    #[inline]
    pub fn send(&self, value: u32) -> bool {
        self.ppe.lock.hold(|| {
            let sent = self.ppe.sent.load(Ordering::Relaxed);
            let fits = sent.wrapping_sub(self.up.taken.load(Ordering::Acquire)) < IN_CAPACITY;
            if fits {
                self.append(sent.wrapping_add(1), value);
            }
            fits
        })
    }

    fn append(&self, number: u32, value: u32) {
        self.ppe.sent.store(number, Ordering::Relaxed);
        if let Some(pipe) = self.pipe(Mailbox::In) {
            pipe.put(value);
        }
        self.down.slots[(number % IN_CAPACITY) as usize].put(number, value);
    }

    /// On the PPE: sends a message. In a full mailbox it replaces the last, as a store to the
    /// register does.
    pub fn overwrite(&self, value: u32) {
        self.ppe.lock.hold(|| {
            let sent = self.ppe.sent.load(Ordering::Relaxed);
            if sent.wrapping_sub(self.up.taken.load(Ordering::Acquire)) < IN_CAPACITY {
                self.append(sent.wrapping_add(1), value)
            } else {
                self.down.slots[(sent % IN_CAPACITY) as usize].put(sent, value)
            }
        });
    }

    /// On the PPE: receives the message of one of the SPU's mailboxes.
    #[inline]
    pub fn receive(&self, mailbox: Mailbox) -> Option<u32> {
        let which = outbound(mailbox);
        self.up.slots[which].get(self.down.taken[which].load(Ordering::Relaxed).wrapping_add(1))?;
        self.ppe.lock.hold(|| {
            // Another thread may have been first.
            let number = self.down.taken[which].load(Ordering::Relaxed).wrapping_add(1);
            let value = self.up.slots[which].get(number)?;
            let value = self.pipe(mailbox).map_or(value, Pipe::get);
            self.down.taken[which].store(number, Ordering::Release);
            Some(value)
        })
    }

    /// On the SPU: receives the oldest message.
    #[inline]
    pub fn take(&self) -> Option<MailboxMessage> {
        let number = self.up.taken.load(Ordering::Relaxed).wrapping_add(1);
        let value = self.down.slots[(number % IN_CAPACITY) as usize].get(number)?;
        let last = number.wrapping_add(IN_CAPACITY - 1);
        let was_full = self.down.slots[(last % IN_CAPACITY) as usize].get(last).is_some();
        self.up.taken.store(number, Ordering::Release);
        Some(MailboxMessage { value, was_full })
    }

    /// On the SPU: waits in the kernel for the oldest message. `None` without pipes.
    #[inline]
    pub fn take_from_kernel(&self) -> Option<MailboxMessage> {
        self.pipe(Mailbox::In)?.get();
        loop {
            // The message's number arrives a moment after the word, and counts even if a store has
            // replaced it.
            match self.take() {
                Some(taken) => return Some(taken),
                None => std::hint::spin_loop(),
            }
        }
    }

    /// On the SPU: writes one of its mailboxes. Returns false if there is no room.
    #[inline]
    pub fn put(&self, mailbox: Mailbox, value: u32) -> bool {
        let which = outbound(mailbox);
        let sent = self.spu.sent[which].load(Ordering::Relaxed);
        let fits = self.down.taken[which].load(Ordering::Acquire) == sent;
        if fits {
            let number = sent.wrapping_add(1);
            self.spu.sent[which].store(number, Ordering::Relaxed);
            if let Some(pipe) = self.pipe(mailbox) {
                pipe.put(value);
            }
            self.up.slots[which].put(number, value);
        }
        fits
    }

    /// On the SPU: the current counts.
    pub fn counts(&self) -> MailboxCounts {
        let taken = self.up.taken.load(Ordering::Relaxed);
        let sent = taken.wrapping_add(self.waiting(Mailbox::In));
        let [out, out_interrupting] =
            [0, 1].map(|which| self.down.taken[which].load(Ordering::Acquire));
        MailboxCounts { sent, out, out_interrupting }
    }

    /// The counts as if all waiting messages had just been sent.
    pub fn counts_before(&self) -> MailboxCounts {
        MailboxCounts { sent: self.up.taken.load(Ordering::Relaxed), ..self.counts() }
    }

    /// The messages in a mailbox.
    #[inline]
    pub fn waiting(&self, mailbox: Mailbox) -> u32 {
        if mailbox == Mailbox::In {
            let taken = self.up.taken.load(Ordering::Acquire);
            let messages = (1..=IN_CAPACITY).map_while(|ahead| {
                let number = taken.wrapping_add(ahead);
                self.down.slots[(number % IN_CAPACITY) as usize].get(number)
            });
            return messages.count() as u32;
        }
        let which = outbound(mailbox);
        let number = self.down.taken[which].load(Ordering::Acquire).wrapping_add(1);
        u32::from(self.up.slots[which].get(number).is_some())
    }

    /// The free places in a mailbox.
    pub fn room(&self, mailbox: Mailbox) -> u32 {
        let capacity = if mailbox == Mailbox::In { IN_CAPACITY } else { 1 };
        capacity - self.waiting(mailbox)
    }
}

fn outbound(mailbox: Mailbox) -> usize {
    usize::from(mailbox == Mailbox::OutInterrupting)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> [Mailboxes; 2] {
        [SpeStyle::Cell, SpeStyle::Linux].map(|style| Mailboxes::new(style).unwrap())
    }

    fn taken(mailboxes: &Mailboxes) -> Option<u32> {
        let there = mailboxes.waiting(Mailbox::In) > 0;
        let taken =
            there.then(|| mailboxes.take_from_kernel().or_else(|| mailboxes.take())).flatten();
        taken.map(|taken| taken.value)
    }

    #[test]
    fn messages_keep_their_order_and_count() {
        for mailboxes in both() {
            assert!((1..=4).all(|value| mailboxes.send(value)) && !mailboxes.send(5));
            assert_eq!((mailboxes.waiting(Mailbox::In), mailboxes.room(Mailbox::In)), (4, 0));
            let read: Vec<u32> = std::iter::from_fn(|| taken(&mailboxes)).collect();
            assert_eq!((read, mailboxes.room(Mailbox::In)), (vec![1, 2, 3, 4], 4));
            assert!(
                mailboxes.send(6) && taken(&mailboxes) == Some(6) && taken(&mailboxes).is_none()
            );
        }
    }

    #[test]
    fn full_mailbox_keeps_the_last_store() {
        let mailboxes = Mailboxes::default();
        (1..=6).for_each(|value| mailboxes.overwrite(value));
        let first = mailboxes.take().unwrap();
        assert_eq!((first.value, first.was_full), (1, true));
        assert!(!mailboxes.take().unwrap().was_full);
        assert_eq!([mailboxes.take().unwrap().value, mailboxes.take().unwrap().value], [3, 6]);
    }

    #[test]
    fn spu_mailboxes_hold_one_message_each() {
        for mailboxes in both() {
            for mailbox in [Mailbox::Out, Mailbox::OutInterrupting] {
                assert!(
                    mailboxes.put(mailbox, 7)
                        && !mailboxes.put(mailbox, 8)
                        && mailboxes.room(mailbox) == 0
                );
                assert_eq!(
                    (mailboxes.receive(mailbox), mailboxes.receive(mailbox)),
                    (Some(7), None)
                );
                assert!(mailboxes.put(mailbox, 9) && mailboxes.waiting(mailbox) == 1);
            }
            assert_eq!(mailboxes.receive(Mailbox::Out), Some(9));
            assert_eq!(mailboxes.waiting(Mailbox::OutInterrupting), 1);
        }
    }

    #[test]
    fn message_counters_wrap_around() {
        let mailboxes = Mailboxes::default();
        let late = u32::MAX - 1;
        mailboxes.ppe.sent.store(late, Ordering::Relaxed);
        mailboxes.up.taken.store(late, Ordering::Relaxed);
        assert!((0..4).all(|value| mailboxes.send(value)) && !mailboxes.send(4));
        assert_eq!(
            (0..4).filter_map(|_| mailboxes.take()).map(|taken| taken.value).sum::<u32>(),
            6
        );
    }

    #[test]
    fn ppe_threads_lose_no_message() {
        const EACH: u32 = 5000;
        let mailboxes = &Mailboxes::default();
        let wait = |done: &dyn Fn() -> bool| {
            while !done() {
                std::thread::yield_now();
            }
        };
        let sum = std::thread::scope(|scope| {
            for writer in 0..2 {
                scope.spawn(move || {
                    (0..EACH).for_each(|at| wait(&|| mailboxes.send(2 * at + writer)))
                });
            }
            let spu = scope.spawn(move || {
                for _ in 0..2 * EACH {
                    let mut got = None;
                    while got.is_none() {
                        got = mailboxes.take();
                        std::thread::yield_now();
                    }
                    let value = got.map_or(0, |taken| taken.value);
                    wait(&|| mailboxes.put(Mailbox::Out, value));
                }
            });
            let readers = [0, 1].map(|_| {
                scope.spawn(move || {
                    let mut sum = 0_u64;
                    let mut left = EACH;
                    while left > 0 {
                        match mailboxes.receive(Mailbox::Out) {
                            Some(value) => (sum, left) = (sum + u64::from(value), left - 1),
                            None => std::thread::yield_now(),
                        }
                    }
                    sum
                })
            });
            spu.join().unwrap();
            readers.into_iter().map(|reader| reader.join().unwrap()).sum::<u64>()
        });
        let all = u64::from(2 * EACH);
        assert_eq!(sum, all * (all - 1) / 2);
    }
}
