//! Packets around a ring, with a message library for machines without shared lines.

use crate::channels::{ChannelProgram, Channels, Ea, ProgramNeeds, TransferOrder};

const QUADWORD: u32 = 16;
/// Core cycles for copying 16 bytes of local store: a load and a store.
const COPY_CYCLES: u64 = 2;

/// The benchmark of Keller & Varbanescu 2010 ("Performance impact of task mapping on the Cell BE
/// multicore processor", section 2.2): tasks in a ring start with a packet for each neighbour, and
/// pass every packet on.
///
/// The message library follows their description, because the student project is not public. A
/// sender copies a packet to its send buffer for the receiver, and notes it in the receiver's row
/// of a matrix in main memory. A receiver fetches its whole row from time to time; if it finds a
/// new packet, it fetches it from the sender's local store, and notes that the buffer is free
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRing {
    /// Tasks, at least two.
    pub tasks: usize,
    /// Bytes per packet, a multiple of 16 up to 16 KiB.
    pub packet_bytes: u32,
    /// Packets that each task receives from each side.
    pub rounds: u32,
    /// Whether packets travel in one direction only.
    pub is_unidirectional: bool,
}

/// Details of the message library that its description omits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLibrary {
    /// Bytes per matrix entry: one of [`Self::ENTRIES`]. Rows are whole quadwords, so with small
    /// entries several rows share a line of memory.
    pub entry_bytes: u32,
    /// Cycles of library code between two polls of the matrix.
    pub poll_cycles: u32,
}

impl MessageLibrary {
    /// Possible entry sizes: one or two counts in one transfer, a quadword, and a line.
    pub const ENTRIES: [u32; 4] = [4, 8, 16, 128];
}

impl Default for MessageLibrary {
    /// A quadword, the smallest size whose alignment is independent of the size, and a few dozen
    /// instructions.
    fn default() -> Self {
        MessageLibrary { entry_bytes: QUADWORD, poll_cycles: 60 }
    }
}

/// A [`MessageRing`] with non-default library details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRingOver {
    /// The benchmark.
    pub ring: MessageRing,
    /// The library details.
    pub library: MessageLibrary,
}

/// The result of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageRingResult {
    /// Its start, in cycles of the machine's clock.
    pub began: u64,
    /// Its end.
    pub ended: u64,
    /// Received packets.
    pub packets: u64,
    /// The sum of their first words, which count the tasks that each packet has passed.
    pub sum: u64,
}

impl ChannelProgram for MessageRing {
    type Output = MessageRingResult;

    fn shape(&self) -> ProgramNeeds {
        self.over(MessageLibrary::default()).shape()
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> MessageRingResult {
        self.over(MessageLibrary::default()).task(channels, rank)
    }
}

impl MessageRing {
    /// Sets the library details.
    pub fn over(self, library: MessageLibrary) -> MessageRingOver {
        MessageRingOver { ring: self, library }
    }
}

impl MessageRingOver {
    fn row_bytes(&self) -> u32 {
        (self.ring.tasks as u32 * self.library.entry_bytes).next_multiple_of(QUADWORD)
    }
}

impl ChannelProgram for MessageRingOver {
    type Output = MessageRingResult;

    fn shape(&self) -> ProgramNeeds {
        let tasks = self.ring.tasks as u32;
        let row = self.row_bytes();
        ProgramNeeds {
            tasks: self.ring.tasks,
            // The fetched row, the entry to put, and a send and a receive buffer for each side.
            local_bytes: row
                + self.library.entry_bytes.max(QUADWORD)
                + 4 * self.ring.packet_bytes
                + 256,
            memory_bytes: tasks * row,
            signals_or: false,
        }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> MessageRingResult {
        let mut member = Member::new(self, channels, rank);
        member.taken.began = channels.cycles();
        member.work();
        member.taken.ended = channels.cycles();
        member.taken
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Side {
    rank: usize,
    sent: u32,
    acknowledged: u32,
    received: u32,
    /// The packet from the other side to pass on.
    waiting: Option<u32>,
}

struct Member<'a, C> {
    ring: &'a MessageRing,
    library: MessageLibrary,
    row_bytes: u32,
    channels: &'a C,
    rank: usize,
    sides: [Side; 2],
    taken: MessageRingResult,
}

impl<'a, C: Channels> Member<'a, C> {
    fn new(over: &'a MessageRingOver, channels: &'a C, rank: usize) -> Self {
        let ring = &over.ring;
        let library = over.library;
        let n = ring.tasks;
        Member {
            ring,
            library,
            row_bytes: over.row_bytes(),
            channels,
            rank,
            sides: [
                Side { rank: (rank + n - 1) % n, ..Side::default() },
                Side { rank: (rank + 1) % n, ..Side::default() },
            ],
            taken: MessageRingResult::default(),
        }
    }

    fn work(&mut self) {
        let ways = if self.ring.is_unidirectional { 1 } else { 2 };
        for to in [1, 0].into_iter().take(ways) {
            self.send(to, 1);
        }
        let expected = u64::from(self.ring.rounds) * ways as u64;
        while self.taken.packets < expected || self.is_owing() {
            self.poll();
        }
    }

    /// Whether a neighbour awaits packets: a task must not leave with a full send buffer.
    fn is_owing(&self) -> bool {
        self.sides.iter().any(|side| side.acknowledged != side.sent || side.waiting.is_some())
    }

    fn poll(&mut self) {
        self.channels.compute(self.library.poll_cycles.into());
        let row = Ea::Memory { module: 0, offset: self.rank as u32 * self.row_bytes };
        self.channels.get(0, row, self.row_bytes, 0, TransferOrder::Free);
        self.channels.wait_tags(1);
        for from in 0..2 {
            let (sent, taken) = self.entry(from);
            self.sides[from].acknowledged = taken;
            let has_room = self.sides[1 - from].waiting.is_none();
            let is_wanted = self.sides[from].received < self.ring.rounds;
            if sent > self.sides[from].received && has_room && is_wanted {
                self.take(from);
            }
        }
        for to in 0..2 {
            if let Some(word) = self.sides[to].waiting
                && self.sides[to].acknowledged == self.sides[to].sent
            {
                self.sides[to].waiting = None;
                self.send(to, word);
            }
        }
    }

    /// A neighbour's counts in this task's row: packets sent, and packets received. If both
    /// neighbours are the same task, there are two entries.
    fn entry(&self, from: usize) -> (u32, u32) {
        let side = self.sides[from];
        let mut bytes = [0; QUADWORD as usize];
        let used = self.library.entry_bytes.min(QUADWORD) as usize;
        self.channels
            .peek(self.column(side.rank, from) * self.library.entry_bytes, &mut bytes[..used]);
        match used {
            4 => (
                further(side.received, word(&bytes, 0) as u16),
                further(side.acknowledged, (word(&bytes, 0) >> 16) as u16),
            ),
            _ => (word(&bytes, 0), word(&bytes, 4)),
        }
    }

    fn count_bytes(&self) -> usize {
        if self.library.entry_bytes == 4 { 2 } else { 4 }
    }

    /// With two tasks, the left entry uses the task's own column, otherwise unused.
    fn column(&self, other: usize, side: usize) -> u32 {
        if self.ring.tasks == 2 { side as u32 } else { other as u32 }
    }

    fn take(&mut self, from: usize) {
        let side = self.sides[from];
        let buffer = self.receive_buffer(from);
        let there = Ea::Local { rank: side.rank as u16, offset: self.send_buffer(1 - from) };
        self.channels.get(buffer, there, self.ring.packet_bytes, 1, TransferOrder::Free);
        self.channels.wait_tags(2);
        let mut word = [0; 4];
        self.channels.peek(buffer, &mut word);
        let word = u32::from_le_bytes(word);
        self.taken.packets += 1;
        self.taken.sum += u64::from(word);
        self.sides[from].received += 1;
        self.note(from);
        // The last packets are not passed on, so that the ring empties.
        if self.sides[from].received < self.ring.rounds {
            self.sides[1 - from].waiting = Some(word + 1);
        }
    }

    fn send(&mut self, to: usize, word: u32) {
        self.channels.poke(self.send_buffer(to), &word.to_le_bytes());
        self.channels.compute(u64::from(self.ring.packet_bytes) / 16 * COPY_CYCLES);
        self.sides[to].sent += 1;
        self.note(to);
    }

    fn note(&self, to: usize) {
        let side = self.sides[to];
        let entry = self.library.entry_bytes;
        let offset = side.rank as u32 * self.row_bytes + self.column(self.rank, 1 - to) * entry;
        // Small transfers keep their offset within the quadword.
        let own = self.row_bytes + offset % QUADWORD;
        // The transfer reads the entry when it is sent, so the previous transfer must be complete.
        self.channels.wait_tags(4);
        let count = self.count_bytes();
        let mut bytes = [0; QUADWORD as usize];
        bytes[..count].copy_from_slice(&side.sent.to_le_bytes()[..count]);
        bytes[count..2 * count].copy_from_slice(&side.received.to_le_bytes()[..count]);
        self.channels.poke(own, &bytes[..entry.min(QUADWORD) as usize]);
        self.channels.put(own, Ea::Memory { module: 0, offset }, entry, 2, TransferOrder::Free);
    }

    fn send_buffer(&self, to: usize) -> u32 {
        self.buffers() + to as u32 * self.ring.packet_bytes
    }

    fn receive_buffer(&self, from: usize) -> u32 {
        self.buffers() + (2 + from as u32) * self.ring.packet_bytes
    }

    /// The buffers start at a line, which makes transfers fast.
    fn buffers(&self) -> u32 {
        (self.row_bytes + self.library.entry_bytes.max(QUADWORD)).next_multiple_of(128)
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn further(known: u32, low: u16) -> u32 {
    known + u32::from(low.wrapping_sub(known as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bit_count_continues_past_overflow() {
        assert_eq!([further(0, 0), further(0, 1), further(65_535, 65_535)], [0, 1, 65_535]);
        assert_eq!([further(65_535, 0), further(131_071, 1)], [65_536, 131_073]);
    }
}
