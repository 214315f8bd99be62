//! The directory's record of each line: its owner, its sharers, and the transaction that serves it.

use crate::coherent::slab::SlabQueue;

pub const NO_CACHE: u16 = u16::MAX;
pub const IDLE: u32 = u32::MAX;

/// The record of a line. Modified and exclusive are one state: the only sharer may write.
#[derive(Clone, Copy)]
pub struct LineRecord {
    /// Cache that answers for the line: the last one that could write it.
    pub owner: u16,
    /// Transaction that serves a request for it; [`IDLE`] for none.
    pub transaction: u32,
    /// Requests that wait for that transaction.
    pub waiting: SlabQueue,
}

const UNKNOWN: LineRecord =
    LineRecord { owner: NO_CACHE, transaction: IDLE, waiting: SlabQueue::EMPTY };

/// The records of all lines, and the sharers of each: the caches with a copy, including the owner.
#[derive(Default)]
pub struct LineTable {
    lines: Vec<LineRecord>,
    sharers: Vec<u64>,
    /// Words of `sharers` for each line.
    words: usize,
}

impl LineTable {
    /// Resets the table to this many lines without sharers, on a machine with this many caches.
    pub fn reset(&mut self, lines: usize, caches: usize) {
        // One table, to avoid an allocation for each line.
        self.words = caches.div_ceil(64).max(1);
        self.lines.clear();
        self.lines.resize(lines, UNKNOWN);
        self.sharers.clear();
        self.sharers.resize(lines * self.words, 0);
    }

    #[inline]
    pub fn get(&self, line: u32) -> &LineRecord {
        &self.lines[line as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, line: u32) -> &mut LineRecord {
        &mut self.lines[line as usize]
    }

    #[inline]
    fn word(&self, line: u32, cache: u16) -> (usize, u64) {
        (line as usize * self.words + cache as usize / 64, 1 << (cache % 64))
    }

    #[inline]
    pub fn is_shared_by(&self, line: u32, cache: u16) -> bool {
        let (word, bit) = self.word(line, cache);
        self.sharers[word] & bit != 0
    }

    #[inline]
    pub fn add(&mut self, line: u32, cache: u16) {
        let (word, bit) = self.word(line, cache);
        self.sharers[word] |= bit;
    }

    #[inline]
    pub fn remove(&mut self, line: u32, cache: u16) {
        let (word, bit) = self.word(line, cache);
        self.sharers[word] &= !bit;
    }

    /// The first sharer of a line from this cache on.
    #[inline]
    pub fn sharer_from(&self, line: u32, cache: u16) -> Option<u16> {
        let first = cache as usize / 64;
        let words = self.sharers.get(line as usize * self.words..)?.get(..self.words)?;
        let here = words.get(first)? & (u64::MAX << (cache % 64));
        if here != 0 {
            return Some((first * 64) as u16 + here.trailing_zeros() as u16);
        }
        let found = (first + 1..self.words).find(|at| words[*at] != 0)?;
        Some((found * 64) as u16 + words[found].trailing_zeros() as u16)
    }

    /// Whether all sharers of a line are among these caches, from the first to before the second.
    #[inline]
    pub fn are_within(&self, line: u32, (from, to): (u16, u16)) -> bool {
        let is_inside = self.sharer_from(line, 0).is_none_or(|first| first >= from);
        is_inside && self.sharer_from(line, to).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sharers_are_found_across_words() {
        let mut lines = LineTable::default();
        lines.reset(3, 130);
        for cache in [0, 63, 64, 129] {
            lines.add(1, cache);
        }
        let found: Vec<u16> =
            std::iter::successors(lines.sharer_from(1, 0), |at| lines.sharer_from(1, at + 1))
                .collect();
        assert_eq!(found, [0, 63, 64, 129]);
        assert!(
            lines.are_within(1, (0, 130))
                && !lines.are_within(1, (0, 129))
                && !lines.are_within(1, (1, 130))
        );
        lines.remove(1, 129);
        assert!(lines.are_within(1, (0, 65)) && lines.are_within(2, (7, 8)));
        [0, 63].into_iter().for_each(|cache| lines.remove(1, cache));
        assert!(lines.are_within(1, (64, 65)) && !lines.are_within(1, (0, 1)));
    }
}
