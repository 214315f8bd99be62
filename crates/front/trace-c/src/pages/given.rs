//! Memory whose pages the program has given back at some time (madvise(2)), and which stays.
//!
//! The kernel tells of it before it drops the pages, and never says when it has. A page that was
//! taken away in between would come back with the content that the program gave up. So pages of
//! such memory are only protected: that leaves their content where it is.

use super::fence;

/// Ranges that are kept. Beyond, no page of any memory is taken away.
const MOST: usize = 1 << 12;

/// The ranges by their addresses, none touching another.
pub struct Given {
    ranges: &'static mut [(usize, usize)],
    count: usize,
    is_full: bool,
}

impl Given {
    /// No memory; `None` if there is no room.
    pub fn new() -> Option<Self> {
        Some(Given { ranges: fence::table(MOST)?, count: 0, is_full: false })
    }

    /// Takes in that the program gives pages back.
    pub fn add(&mut self, start: usize, end: usize) {
        let from = self.ranges[..self.count].partition_point(|range| range.1 < start);
        let to = self.ranges[..self.count].partition_point(|range| range.0 <= end);
        let joined = self.ranges[from..to]
            .iter()
            .fold((start, end), |all, range| (all.0.min(range.0), all.1.max(range.1)));
        self.replace(from, to, [joined, (0, 0)], 1);
    }

    /// Forgets memory that is no longer there.
    pub fn forget(&mut self, start: usize, end: usize) {
        let from = self.ranges[..self.count].partition_point(|range| range.1 <= start);
        let to = self.ranges[..self.count].partition_point(|range| range.0 < end);
        if from >= to {
            return;
        }
        let before = (self.ranges[from].0, start);
        let after = (end, self.ranges[to - 1].1);
        let mut rest = [(0, 0); 2];
        let mut count = 0;
        for part in [before, after].into_iter().filter(|part| part.0 < part.1) {
            rest[count] = part;
            count += 1;
        }
        self.replace(from, to, rest, count);
    }

    /// Whether a page of this address may only be protected.
    pub fn has(&self, address: usize) -> bool {
        let place = self.ranges[..self.count].partition_point(|range| range.1 <= address);
        self.is_full || self.ranges[..self.count].get(place).is_some_and(|range| range.0 <= address)
    }

    /// Puts the first `parts` of two ranges in the place of those from `from` to `to`.
    fn replace(&mut self, from: usize, to: usize, new: [(usize, usize); 2], parts: usize) {
        let count = self.count - (to - from) + parts;
        if count > MOST {
            self.is_full = true;
            return;
        }
        self.ranges.copy_within(to..self.count, from + parts);
        self.ranges[from..from + parts].copy_from_slice(&new[..parts]);
        self.count = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined_and_cut() {
        assert!(fence::begin());
        let mut given = Given::new().unwrap();
        [(30, 40), (10, 20), (20, 25), (60, 70)]
            .iter()
            .for_each(|range| given.add(range.0, range.1));
        assert_eq!(given.ranges[..given.count], [(10, 25), (30, 40), (60, 70)]);
        assert_eq!(
            [9, 10, 24, 25, 39, 69, 70].map(|at| given.has(at)),
            [false, true, true, false, true, true, false]
        );
        given.forget(15, 65);
        assert_eq!(given.ranges[..given.count], [(10, 15), (65, 70)]);
        given.forget(11, 12);
        given.add(0, 99);
        assert_eq!(given.ranges[..given.count], [(0, 99)]);
        given.forget(10, 90);
        assert_eq!(given.ranges[..given.count], [(0, 10), (90, 99)]);
        (0..=MOST).for_each(|at| given.add(1000 + at * 10, 1005 + at * 10));
        assert!(given.has(500));
    }
}
