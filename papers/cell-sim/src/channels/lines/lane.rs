//! Messages between two tasks, on one line for both directions.

use seatmap_data::port::{Addr, Port, WORDS_PER_LINE};
use std::cell::Cell;

/// Messages in flight in one direction: one more than the entries of the Cell's mailbox, because
/// with at most one unreported message there is always room for four.
const ROOM: u16 = 5;

/// Unreported messages after which the receiver reports.
const REPORT_AT: u16 = 2;

/// One direction of two tasks' messages: half of their line, written by one task and read by the
/// other.
///
/// | word | low half | high half |
/// |---|---|---|
/// | 0, 1 | a value | a value |
/// | 2 | number of values that the writer has read from the reader's outbox | |
/// | 3 | the newest value | number of messages sent and received, 16 bits each |
///
/// For a single message in flight, the last word suffices; this case must be fast. If the newest
/// value may be unread when the next is sent, it moves to one of the first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneHalf(Addr);

impl LaneHalf {
    pub fn of(line: Addr, second: bool) -> Self {
        LaneHalf(line.word(WORDS_PER_LINE / 2 * u32::from(second)))
    }

    fn value(self, number: u16) -> Addr {
        self.0.word(u32::from(number % 4 / 2))
    }

    fn taken(self) -> Addr {
        self.0.word(2)
    }

    fn news(self) -> Addr {
        self.0.word(3)
    }
}

#[derive(Clone, Copy)]
struct News(u64);

impl News {
    fn of(newest: u32, counts: Counts) -> Self {
        News(pair(newest, u32::from(counts.sent) << 16 | u32::from(counts.received)))
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

/// Message counts of one task, modulo 2^16. They share a word, because any other write before a
/// message delays it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(8))]
struct Counts {
    sent: u16,
    /// Messages that the other task has received, as far as known.
    arrived: u16,
    received: u16,
    /// Received messages that the other task knows of.
    reported: u16,
}

/// One task's state of its messages with another task.
///
/// Counts announce new messages, so the receiver clears nothing, and its answers carry its reports.
/// An answer is on its question's line: with a separate line for each direction a round trip took
/// 18 % longer on an AMD EPYC. Only if no messages flow back, every second message costs a separate
/// report. (The single-producer ring of Lamport 1983, with credits.)
#[derive(Debug)]
pub struct MailLane {
    out: LaneHalf,
    back: LaneHalf,
    counts: Cell<Counts>,
    newest: Cell<u32>,
    older: [Cell<u64>; 2],
}

impl MailLane {
    pub fn new(out: LaneHalf, back: LaneHalf) -> Self {
        MailLane {
            out,
            back,
            counts: Cell::default(),
            newest: Cell::new(0),
            older: Default::default(),
        }
    }

    #[inline(always)]
    pub fn send<P: Port>(&self, port: &P, value: u32) {
        let mut counts = self.counts.get();
        // Usually all have arrived, and the last word can be overwritten.
        if counts.sent != counts.arrived {
            counts = self.make_room(port, counts);
        }
        counts.sent = counts.sent.wrapping_add(1);
        self.tell(port, value, counts);
        self.newest.set(value);
    }

    /// Waits for room, and moves the newest value to its older word.
    #[inline(never)]
    fn make_room<P: Port>(&self, port: &P, mut counts: Counts) -> Counts {
        if counts.sent.wrapping_sub(counts.arrived) >= ROOM {
            let mut news = port.load(self.back.news());
            while counts.sent.wrapping_sub(News(news).received()) >= ROOM {
                news = port.wait_while(self.back.news(), news);
            }
            counts.arrived = News(news).received();
        }
        // The newest value, which the next one replaces.
        let number = counts.sent.wrapping_sub(1);
        let words = &self.older[usize::from(number % 4 / 2)];
        words.set(match number % 2 {
            0 => pair(self.newest.get(), high(words.get())),
            _ => pair(low(words.get()), self.newest.get()),
        });
        port.store(self.out.value(number), words.get());
        counts
    }

    #[inline(always)]
    fn tell<P: Port>(&self, port: &P, newest: u32, mut counts: Counts) {
        port.store(self.out.news(), News::of(newest, counts).0);
        counts.reported = counts.received;
        self.counts.set(counts);
    }

    #[inline(always)]
    pub fn try_receive<P: Port>(&self, port: &P) -> Option<u32> {
        let news = News(port.load(self.back.news()));
        (news.sent() != self.counts.get().received).then(|| self.take(port, news))
    }

    #[inline(always)]
    pub fn receive<P: Port>(&self, port: &P) -> u32 {
        let word = self.back.news();
        let received = self.counts.get().received;
        let mut news = port.load(word);
        while News(news).sent() == received {
            news = port.wait_while(word, news);
        }
        self.take(port, News(news))
    }

    #[inline(always)]
    fn take<P: Port>(&self, port: &P, news: News) -> u32 {
        let mut counts = self.counts.get();
        let number = counts.received;
        counts.received = number.wrapping_add(1);
        counts.arrived = news.received();
        // The last word holds the newest value; older values are in the other words.
        let value = if news.sent() == counts.received {
            news.newest()
        } else {
            self.older_value(port, number)
        };
        // The report repeats the newest value, because the last word is written as a whole.
        if counts.received.wrapping_sub(counts.reported) >= REPORT_AT {
            self.tell(port, self.newest.get(), counts)
        } else {
            self.counts.set(counts)
        }
        value
    }

    fn older_value<P: Port>(&self, port: &P, number: u16) -> u32 {
        // Only values older than the newest cost a second word.
        let words = port.load(self.back.value(number));
        if number.is_multiple_of(2) { low(words) } else { high(words) }
    }

    pub fn is_waiting_for_itself(&self) -> bool {
        self.counts.get().sent != self.counts.get().received
    }

    pub fn note_taken<P: Port>(&self, port: &P, taken: u32) {
        port.store(self.out.taken(), taken.into());
    }

    pub fn noted_taken<P: Port>(&self, port: &P) -> u32 {
        low(port.load(self.back.taken()))
    }
}

#[inline(always)]
pub fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[inline(always)]
pub fn low(word: u64) -> u32 {
    word as u32
}

#[inline(always)]
pub fn high(word: u64) -> u32 {
    (word >> 32) as u32
}
