//! Bytes in 64-bit words: byte b of a word is its bits 8b to 8b + 7, on every machine.

use super::access::change_word;
use seatmap_data::port::{Addr, Port};

#[derive(Clone, Copy, Debug)]
pub struct WordBytes {
    start: Addr,
    offset: u32,
}

impl WordBytes {
    pub fn new(start: Addr, offset: u32) -> Self {
        WordBytes { start, offset }
    }

    fn word(self, further: u32) -> Addr {
        self.start.word((self.offset + further) / 8)
    }

    fn shift(self, further: u32) -> u32 {
        (self.offset + further) % 8 * 8
    }

    pub fn read<P: Port>(self, port: &P, mut into: &mut [u8]) {
        let mut at = 0;
        while !into.is_empty() {
            // Only the first piece may start within a word.
            let skip = self.shift(at) as usize / 8;
            let (piece, rest) = into.split_at_mut(into.len().min(8 - skip));
            piece
                .copy_from_slice(&port.load(self.word(at)).to_le_bytes()[skip..skip + piece.len()]);
            at += piece.len() as u32;
            into = rest;
        }
    }

    pub fn write<P: Port>(self, port: &P, mut from: &[u8]) {
        let mut at = 0;
        while !from.is_empty() {
            let room = 8 - self.shift(at) as usize / 8;
            let (piece, rest) = from.split_at(from.len().min(room));
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.write_up_to_8(port, at, u64::from_le_bytes(word), piece.len() as u32);
            at += piece.len() as u32;
            from = rest;
        }
    }

    /// Writes the lowest `count` bytes of a value within one word, whose other bytes belong to
    /// other tasks.
    fn write_up_to_8<P: Port>(self, port: &P, at: u32, value: u64, count: u32) {
        let word = self.word(at);
        if count == 8 {
            return port.store(word, value);
        }
        let shift = self.shift(at);
        let mask = ((1 << (8 * count)) - 1) << shift;
        change_word(port, word, |found| found & !mask | value << shift & mask);
    }

    /// Copies `size` bytes: 1, 2 or 4 within a word, or whole words.
    #[inline]
    pub fn copy<P: Port>(port: &P, from: WordBytes, to: WordBytes, size: u32) {
        // Transfers of less than a word are aligned, so they do not cross words.
        if size < 8 {
            return to.write_up_to_8(port, 0, port.load(from.word(0)) >> from.shift(0), size);
        }
        port.copy(from.word(0), to.word(0), size / 8);
    }

    /// The word that contains the aligned 32-bit word here, and whether it is the upper half.
    pub fn half(self) -> (Addr, bool) {
        (self.word(0), self.shift(0) == 32)
    }

    pub fn read_u32<P: Port>(self, port: &P) -> u32 {
        (port.load(self.word(0)) >> self.shift(0)) as u32
    }
}
