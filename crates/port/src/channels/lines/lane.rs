//! Mail between two tasks, on one line that carries both directions.

use crate::{Addr, Port, WORDS_PER_LINE};
use std::cell::Cell;

/// Messages on their way in one direction. One more than the Cell's mailbox has entries, since the receiver does not
/// report every one: with at most one unreported there is always room for four.
const SLOTS: u16 = 5;

/// Unreported messages at which the receiver reports.
const REPORT_AT: u16 = 2;

/// Where one direction of the mail of two tasks lies: half of their line, written by one of them and read by the other.
///
/// | word | low half | high half |
/// |---|---|---|
/// | 0 | value | value |
/// | 1 | value | value |
/// | 2 | value | how many values the writer has taken from the reader's outbox |
/// | 3 | the newest value again | how many messages it has sent, and how many it has received, 16 bits each |
///
/// The last word alone says it all where one message is on its way, which is the case that has to be fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half(Addr);

impl Half {
    /// The first half of a line, or the second.
    pub(super) fn of(line: Addr, second: bool) -> Self {
        Half(line.word(WORDS_PER_LINE / 2 * u32::from(second)))
    }

    fn values(self, slot: u16) -> Addr {
        self.0.word(u32::from(slot / 2))
    }

    fn taken(self) -> Addr {
        self.0.word(2)
    }

    fn news(self) -> Addr {
        self.0.word(3)
    }
}

/// What the last word says.
#[derive(Clone, Copy)]
struct News(u64);

impl News {
    fn of(newest: u32, sent: u16, received: u16) -> Self {
        News(pair(newest, u32::from(sent) << 16 | u32::from(received)))
    }

    fn newest(self) -> u32 {
        low(self.0)
    }

    fn sent(self) -> u16 {
        (self.0 >> 48) as u16
    }

    fn received(self) -> u16 {
        (self.0 >> 32) as u16
    }
}

/// What one task remembers of its mail with another.
///
/// Counts say what is new, so the receiver has nothing to clear, and its reports ride on its answers. An answer lies on
/// the line of its question: a line that goes back and forth between two caches is the cheapest there is, and where each
/// direction had its own a round trip took 18 % longer on an AMD EPYC. Only where no mail goes back does a report cost a
/// transfer of its own, every second message. (The single-producer ring of Lamport 1983, with credits. Counts are
/// modulo 2^16: two of them never differ by more than the messages on their way.)
#[derive(Debug)]
pub(super) struct Lane {
    /// Written by this task.
    out: Half,
    /// Written by the other.
    back: Half,
    /// The words of values as they were written last.
    written: [Cell<u64>; 3],
    newest: Cell<u32>,
    sent: Cell<u16>,
    /// How many of those the other is known to have received.
    arrived: Cell<u16>,
    received: Cell<u16>,
    reported: Cell<u16>,
    /// Where the next message goes, and where the next one comes.
    out_slot: Cell<u16>,
    back_slot: Cell<u16>,
}

impl Lane {
    pub(super) fn new(out: Half, back: Half) -> Self {
        Lane {
            out,
            back,
            written: Default::default(),
            newest: Cell::new(0),
            sent: Cell::new(0),
            arrived: Cell::new(0),
            received: Cell::new(0),
            reported: Cell::new(0),
            out_slot: Cell::new(0),
            back_slot: Cell::new(0),
        }
    }

    /// Sends a value; waits while there is no room.
    #[inline]
    pub(super) fn send<P: Port>(&self, port: &P, value: u32) {
        let (sent, slot) = (self.sent.get(), self.out_slot.get());
        if sent.wrapping_sub(self.arrived.get()) >= SLOTS {
            self.wait_for_room(port);
        }
        let words = &self.written[usize::from(slot / 2)];
        words.set(with_half(words.get(), slot % 2, value));
        port.store(self.out.values(slot), words.get());
        self.newest.set(value);
        self.sent.set(sent.wrapping_add(1));
        self.out_slot.set(after(slot));
        self.tell(port);
    }

    #[cold]
    fn wait_for_room<P: Port>(&self, port: &P) {
        let mut news = port.load(self.back.news());
        while self.sent.get().wrapping_sub(News(news).received()) >= SLOTS {
            news = port.wait_while(self.back.news(), news);
        }
        self.arrived.set(News(news).received());
    }

    /// Says how many messages this task has sent and received.
    #[inline]
    fn tell<P: Port>(&self, port: &P) {
        self.reported.set(self.received.get());
        port.store(self.out.news(), News::of(self.newest.get(), self.sent.get(), self.received.get()).0);
    }

    /// The next value, where it has come.
    #[inline]
    pub(super) fn try_receive<P: Port>(&self, port: &P) -> Option<u32> {
        let news = News(port.load(self.back.news()));
        (news.sent() != self.received.get()).then(|| self.take(port, news))
    }

    /// The next value; waits for it.
    #[inline]
    pub(super) fn receive<P: Port>(&self, port: &P) -> u32 {
        let word = self.back.news();
        let mut news = port.load(word);
        while News(news).sent() == self.received.get() {
            news = port.wait_while(word, news);
        }
        self.take(port, News(news))
    }

    #[inline]
    fn take<P: Port>(&self, port: &P, news: News) -> u32 {
        let (slot, received) = (self.back_slot.get(), self.received.get().wrapping_add(1));
        let value = match news.sent() == received {
            true => news.newest(),
            false => half(port.load(self.back.values(slot)), slot % 2),
        };
        self.arrived.set(news.received());
        self.received.set(received);
        self.back_slot.set(after(slot));
        if received.wrapping_sub(self.reported.get()) >= REPORT_AT {
            self.tell(port);
        }
        value
    }

    /// Whether a task that writes to itself has something to read.
    pub(super) fn is_waiting_for_itself(&self) -> bool {
        self.sent != self.received
    }

    /// Notes how many values are gone from the other's outbox. It is told by the next message.
    pub(super) fn note_taken<P: Port>(&self, port: &P, taken: u32) {
        let words = &self.written[2];
        words.set(with_half(words.get(), 1, taken));
        // Into a line that this task writes next and the other looks at then: no transfer of its own.
        port.store(self.out.taken(), words.get());
    }

    /// How many values the other has noted to be gone from this task's outbox.
    pub(super) fn noted_taken<P: Port>(&self, port: &P) -> u32 {
        high(port.load(self.back.taken()))
    }
}

fn after(slot: u16) -> u16 {
    if slot + 1 == SLOTS { 0 } else { slot + 1 }
}

/// Two numbers in a word.
#[inline]
pub(super) fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[inline]
fn half(word: u64, which: u16) -> u32 {
    if which == 0 { low(word) } else { high(word) }
}

#[inline]
fn with_half(word: u64, half: u16, value: u32) -> u64 {
    if half == 0 { pair(value, high(word)) } else { pair(low(word), value) }
}

#[inline]
pub(super) fn low(word: u64) -> u32 {
    word as u32
}

#[inline]
pub(super) fn high(word: u64) -> u32 {
    (word >> 32) as u32
}
