//! Who holds which line.

/// Nobody, or nothing further.
pub const NONE: u32 = u32::MAX;
/// No cache.
pub const NO_CACHE: u16 = u16::MAX;

/// What is known of a line. Modified and exclusive are one: a cache that holds the line alone may write it.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The cache that answers for it: its owner, or the last one that was.
    pub keeper: u16,
    /// Whether the keeper holds it alone, and may write.
    pub is_exclusive: bool,
    /// Whether a request for it is under way at its home.
    pub is_busy: bool,
    /// The messages that wait for that, from the first to the last.
    pub first: u32,
    pub last: u32,
}

const UNKNOWN: Line = Line { keeper: NO_CACHE, is_exclusive: false, is_busy: false, first: NONE, last: NONE };

/// All lines of a run, and for each the caches that hold it.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    lines: Vec<Line>,
    holders: Vec<u64>,
    /// Words of `holders` for each line.
    words: usize,
}

impl Lines {
    /// So many lines that nobody holds, on a machine of so many caches.
    pub fn reset(&mut self, lines: usize, caches: usize) {
        self.words = caches.div_ceil(64).max(1);
        self.lines.clear();
        self.lines.resize(lines, UNKNOWN);
        self.holders.clear();
        self.holders.resize(lines * self.words, 0);
    }

    #[inline]
    pub fn get(&self, line: u32) -> &Line {
        &self.lines[line as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, line: u32) -> &mut Line {
        &mut self.lines[line as usize]
    }

    #[inline]
    fn word(&self, line: u32, cache: u16) -> (usize, u64) {
        (line as usize * self.words + cache as usize / 64, 1 << (cache % 64))
    }

    #[inline]
    pub fn holds(&self, line: u32, cache: u16) -> bool {
        let (word, bit) = self.word(line, cache);
        self.holders[word] & bit != 0
    }

    /// Whether a cache may write a line without asking.
    #[inline]
    pub fn owns(&self, line: u32, cache: u16) -> bool {
        let line = self.get(line);
        line.is_exclusive && line.keeper == cache
    }

    #[inline]
    pub fn add(&mut self, line: u32, cache: u16) {
        let (word, bit) = self.word(line, cache);
        self.holders[word] |= bit;
    }

    #[inline]
    pub fn remove(&mut self, line: u32, cache: u16) {
        let (word, bit) = self.word(line, cache);
        self.holders[word] &= !bit;
    }

    /// The first cache from this one on that holds a line.
    #[inline]
    pub fn holder_from(&self, line: u32, cache: u16) -> Option<u16> {
        let first = cache as usize / 64;
        let words = self.holders.get(line as usize * self.words..)?.get(..self.words)?;
        let mask = |at: usize| if at == first { u64::MAX << (cache % 64) } else { u64::MAX };
        let found = (first..self.words).find(|at| words[*at] & mask(*at) != 0)?;
        Some((found * 64) as u16 + (words[found] & mask(found)).trailing_zeros() as u16)
    }

    /// Whether all that hold a line are among these caches.
    pub fn are_within(&self, line: u32, (from, to): (u16, u16)) -> bool {
        let is_inside = self.holder_from(line, 0).is_none_or(|first| first >= from);
        is_inside && self.holder_from(line, to).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_are_found_across_words() {
        let mut lines = Lines::default();
        lines.reset(3, 130);
        for cache in [0, 63, 64, 129] {
            lines.add(1, cache);
        }
        let found: Vec<u16> =
            std::iter::successors(lines.holder_from(1, 0), |at| lines.holder_from(1, at + 1)).collect();
        assert_eq!(found, [0, 63, 64, 129]);
        assert!(lines.are_within(1, (0, 130)) && !lines.are_within(1, (0, 129)) && !lines.are_within(1, (1, 130)));
        lines.remove(1, 129);
        assert!(lines.are_within(1, (0, 65)) && lines.are_within(2, (7, 8)));
    }
}
