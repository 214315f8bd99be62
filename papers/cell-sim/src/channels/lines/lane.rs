//! Mail between two tasks, on one line that carries both directions.

use seatmap_data::port::{Addr, Port, WORDS_PER_LINE};
use std::cell::Cell;

/// Messages on their way in one direction. One more than the Cell's mailbox has entries, since the
/// receiver does not report every one: with at most one unreported there is always room for four.
const ROOM: u16 = 5;

/// Unreported messages at which the receiver reports.
const REPORT_AT: u16 = 2;

/// The place of one direction of two tasks' mail: half of their line, written by one of them and
/// read by the other.
///
/// | word | low half | high half |
/// |---|---|---|
/// | 0, 1 | a value | a value |
/// | 2 | how many values the writer has taken from the reader's outbox | |
/// | 3 | the newest value | its messages sent and received, 16 bits each |
///
/// Where one message is on its way the last word says it all, which is the case that has to be
/// fast. A value that may not have been read when the next one is sent moves to the words in front
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneHalf(Addr);

impl LaneHalf {
    /// The first half of a line, or the second.
    pub(super) fn of(line: Addr, second: bool) -> Self {
        LaneHalf(line.word(WORDS_PER_LINE / 2 * u32::from(second)))
    }

    /// The word of the value of message `number`, counted from zero.
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

/// The content of a lane's last word.
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

/// Messages counted by one task, modulo 2^16: two of its counts never differ by more than are on
/// their way. They are kept in one word, since whatever is written before a message delays it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(8))]
struct Counts {
    sent: u16,
    /// How many of those the other is known to have received.
    arrived: u16,
    received: u16,
    /// The number of received messages that the other was told of.
    reported: u16,
}

/// The state that one task keeps of its mail with another.
///
/// Counts say what is new, so the receiver has nothing to clear, and its reports ride on its
/// answers. An answer lies on the line of its question: a line that goes back and forth between two
/// caches is the cheapest there is, and where each direction had its own a round trip took 18 %
/// longer on an AMD EPYC. Only where no mail goes back does a report cost a transfer of its own,
/// every second message. (The single-producer ring of Lamport 1983, with credits.)
#[derive(Debug)]
pub(super) struct MailLane {
    /// Written by this task.
    out: LaneHalf,
    /// Written by the other.
    back: LaneHalf,
    counts: Cell<Counts>,
    newest: Cell<u32>,
    /// The words of older values as they were written last.
    older: [Cell<u64>; 2],
}

impl MailLane {
    pub(super) fn new(out: LaneHalf, back: LaneHalf) -> Self {
        MailLane {
            out,
            back,
            counts: Cell::default(),
            newest: Cell::new(0),
            older: Default::default(),
        }
    }

    /// Sends a value; waits while the mailbox is full.
    #[inline(always)]
    pub(super) fn send<P: Port>(&self, port: &P, value: u32) {
        let mut counts = self.counts.get();
        // All have arrived in the usual case, and the last word may be overwritten.
        if counts.sent != counts.arrived {
            counts = self.make_room(port, counts);
        }
        counts.sent = counts.sent.wrapping_add(1);
        self.tell(port, value, counts);
        self.newest.set(value);
    }

    /// Waits for room, and moves the newest value aside for the next.
    #[inline(never)]
    fn make_room<P: Port>(&self, port: &P, mut counts: Counts) -> Counts {
        if counts.sent.wrapping_sub(counts.arrived) >= ROOM {
            let mut news = port.load(self.back.news());
            while counts.sent.wrapping_sub(News(news).received()) >= ROOM {
                news = port.wait_while(self.back.news(), news);
            }
            counts.arrived = News(news).received();
        }
        // The newest value, which the next one is to replace.
        let number = counts.sent.wrapping_sub(1);
        let words = &self.older[usize::from(number % 4 / 2)];
        // Even numbers have the low half of their word.
        words.set(match number % 2 {
            0 => pair(self.newest.get(), high(words.get())),
            _ => pair(low(words.get()), self.newest.get()),
        });
        port.store(self.out.value(number), words.get());
        counts
    }

    /// Says how many messages this task has sent and received.
    #[inline(always)]
    fn tell<P: Port>(&self, port: &P, newest: u32, mut counts: Counts) {
        port.store(self.out.news(), News::of(newest, counts).0);
        counts.reported = counts.received;
        self.counts.set(counts);
    }

    /// The next value, where it has come.
    #[inline(always)]
    pub(super) fn try_receive<P: Port>(&self, port: &P) -> Option<u32> {
        let news = News(port.load(self.back.news()));
        (news.sent() != self.counts.get().received).then(|| self.take(port, news))
    }

    /// The next value; waits for it.
    #[inline(always)]
    pub(super) fn receive<P: Port>(&self, port: &P) -> u32 {
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
        // The last word holds the newest value; older ones were moved aside.
        let value = if news.sent() == counts.received {
            news.newest()
        } else {
            self.older_value(port, number)
        };
        // The report repeats the newest value: the last word is written as a whole.
        if counts.received.wrapping_sub(counts.reported) >= REPORT_AT {
            self.tell(port, self.newest.get(), counts)
        } else {
            self.counts.set(counts)
        }
        value
    }

    fn older_value<P: Port>(&self, port: &P, number: u16) -> u32 {
        // Only values that are not the newest cost a second word.
        let words = port.load(self.back.value(number));
        if number.is_multiple_of(2) { low(words) } else { high(words) }
    }

    /// Whether a task that writes to itself has something to read.
    pub(super) fn is_waiting_for_itself(&self) -> bool {
        self.counts.get().sent != self.counts.get().received
    }

    /// Notes how many values are gone from the other's outbox, on the line of the next message.
    pub(super) fn note_taken<P: Port>(&self, port: &P, taken: u32) {
        port.store(self.out.taken(), taken.into());
    }

    /// How many values the other has noted to be gone from this task's outbox.
    pub(super) fn noted_taken<P: Port>(&self, port: &P) -> u32 {
        low(port.load(self.back.taken()))
    }
}

/// Two numbers in a word.
#[inline(always)]
pub(super) fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[inline(always)]
pub(super) fn low(word: u64) -> u32 {
    word as u32
}

#[inline(always)]
pub(super) fn high(word: u64) -> u32 {
    (word >> 32) as u32
}
