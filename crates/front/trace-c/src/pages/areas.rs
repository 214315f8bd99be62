//! Memory from which pages are taken: anonymous memory that can be read and written, where it has
//! pages.
//!
//! The kernel tells of faults in pieces of at most 2 MiB that have a page at least, so that memory
//! which the program has not used yet costs it nothing.

use super::kernel::Faults;
use super::{PAGE, fence, own};
use crate::maps;
use std::ffi::c_int;

/// The length and alignment of pieces, in bytes: what one page table maps, so that no large page is
/// cut for its neighbour's sake.
const PIECE_BYTES: usize = 2 << 20;

/// Pieces that are kept: 8 GiB. Memory beyond is not looked at.
const MOST: usize = 4096;

/// Pieces that are followed to a new address; the next look finds the others: 1 GiB.
const FOLLOWED: usize = 512;

/// Pages that are listed: 256 MiB.
const MOST_PAGES: usize = 1 << 16;

/// A piece of memory whose faults the kernel tells of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Piece {
    /// The first address.
    pub start: usize,
    /// The end.
    pub end: usize,
}

/// The pieces by their addresses, none overlapping another, and pages that were there at the last
/// look.
pub struct Areas {
    pieces: &'static mut [Piece],
    count: usize,
    pages: &'static mut [usize],
    page_count: usize,
    /// Pages that were there, also those that found no place in the list.
    pages_seen: u64,
    random: u64,
    pagemap: c_int,
    /// Memory that found no place among the pieces, in bytes, at the last look.
    pub left_out_bytes: usize,
}

impl Areas {
    /// Begins without pieces. Returns `None` if memory is short, or the kernel does not show which
    /// pages are there.
    pub fn new() -> Option<Self> {
        // SAFETY: the path is a C string.
        let pagemap =
            unsafe { libc::open(c"/proc/self/pagemap".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if pagemap < 0 {
            return None;
        }
        let pieces = fence::table(MOST)?;
        let pages = fence::table(MOST_PAGES)?;
        Some(Areas {
            pieces,
            count: 0,
            pages,
            page_count: 0,
            pages_seen: 0,
            random: 1,
            pagemap,
            left_out_bytes: 0,
        })
    }

    /// The pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces[..self.count]
    }

    /// Pages that were there at the last look; where there were more than fit, a fair choice of
    /// them.
    pub fn pages(&self) -> &[usize] {
        &self.pages[..self.page_count]
    }

    /// Looks for memory that has got its first pages, and for the pages that are there now.
    pub fn look(&mut self, faults: &Faults) {
        self.left_out_bytes = 0;
        self.find_pieces(faults);
        (self.page_count, self.pages_seen) = (0, 0);
        for at in 0..self.count {
            let piece = self.pieces[at];
            let mut entries = [0; PIECE_BYTES / PAGE];
            let there = self.there(piece, &mut entries);
            for (number, _) in
                entries[..there].iter().enumerate().filter(|(_, entry)| is_there(**entry))
            {
                self.keep(piece.start + number * PAGE);
            }
        }
    }

    /// Keeps each page with the same chance (Vitter's algorithm R).
    fn keep(&mut self, page: usize) {
        self.pages_seen += 1;
        let place = if self.page_count < MOST_PAGES {
            self.page_count
        } else {
            self.below(self.pages_seen)
        };
        if let Some(kept) = self.pages.get_mut(place) {
            *kept = page;
            self.page_count = self.page_count.max(place + 1);
        }
    }

    fn below(&mut self, end: u64) -> usize {
        // Knuth's generator of linear congruences, by its upper bits.
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 33) % end.max(1)) as usize
    }

    fn find_pieces(&mut self, faults: &Faults) {
        let mut follows_own = 0;
        maps::each(|mapping| {
            if mapping.inode != 0 {
                follows_own = if own::is_own(mapping) { mapping.to } else { 0 };
            }
            let is_own = mapping.from == follows_own;
            let is_named = !mapping.path.is_empty()
                && mapping.path != b"[heap]"
                && !mapping.path.starts_with(b"[anon:");
            if mapping.rights == b"rw-p" && mapping.inode == 0 && !is_named && !is_own {
                self.cut(faults, mapping.from, mapping.to);
            }
        });
    }

    /// Cuts memory at the borders of pieces.
    fn cut(&mut self, faults: &Faults, from: usize, to: usize) {
        let mut start = from;
        while start < to {
            let end = (start / PIECE_BYTES * PIECE_BYTES + PIECE_BYTES).min(to);
            outside(Piece { start, end }, &in_fence, &mut |piece| self.add(faults, piece));
            start = end;
        }
    }

    fn add(&mut self, faults: &Faults, piece: Piece) {
        if self.is_known(piece) || !self.has_pages(piece) {
            return;
        }
        self.forget(piece.start, piece.end);
        if self.count == MOST {
            self.left_out_bytes += piece.end - piece.start;
        } else if faults.register(piece.start, piece.end - piece.start).is_ok() {
            self.insert(piece);
        }
    }

    fn insert(&mut self, piece: Piece) {
        let place = self.pieces().partition_point(|known| known.start < piece.start);
        self.pieces.copy_within(place..self.count, place + 1);
        self.pieces[place] = piece;
        self.count += 1;
    }

    /// Whether the kernel tells of this memory already. A piece that has grown is registered again
    /// as a whole.
    fn is_known(&self, piece: Piece) -> bool {
        self.of(piece.start).is_some_and(|known| piece.end <= known.end)
    }

    fn has_pages(&self, piece: Piece) -> bool {
        let mut entries = [0; PIECE_BYTES / PAGE];
        let there = self.there(piece, &mut entries);
        entries[..there].iter().any(|entry| is_there(*entry))
    }

    /// The kernel's knowledge of each page of a piece; how many pages it told of.
    fn there(&self, piece: Piece, entries: &mut [u64; PIECE_BYTES / PAGE]) -> usize {
        let pages = ((piece.end - piece.start) / PAGE).min(entries.len());
        let at = (piece.start / PAGE * size_of::<u64>()) as i64;
        let bytes = pages * size_of::<u64>();
        // SAFETY: the array has room for the bytes.
        let got = unsafe { libc::pread(self.pagemap, entries.as_mut_ptr().cast(), bytes, at) };
        usize::try_from(got).unwrap_or(0) / size_of::<u64>()
    }

    /// The piece in which an address lies. Only pages of pieces may be taken: the kernel says when
    /// memory of pieces is replaced by other memory.
    pub fn of(&self, address: usize) -> Option<Piece> {
        let after = self.pieces().partition_point(|piece| piece.start <= address);
        let before = self.pieces[..after].last().copied();
        before.filter(|piece| address < piece.end)
    }

    /// Follows memory to its new address.
    pub fn follow(&mut self, from: usize, to: usize, bytes: usize) {
        let end = from.saturating_add(bytes);
        let mut pieces = [Piece::default(); FOLLOWED];
        let mut count = 0;
        for piece in self.within(from, end).take(FOLLOWED) {
            pieces[count] = piece;
            count += 1;
        }
        self.forget(from, end);
        for piece in &pieces[..count] {
            self.know(piece.start.max(from) - from + to, piece.end.min(end) - from + to);
        }
    }

    /// Knows memory of whose faults the kernel tells already, as far as it is not known.
    pub fn know(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end && self.count < MOST {
            let next = self.within(at, end).next().unwrap_or(Piece { start: end, end });
            if at < next.start {
                let cut = next.start.min(at + PIECE_BYTES);
                self.insert(Piece { start: at, end: cut });
                at = cut;
            } else {
                at = next.end;
            }
        }
    }

    /// The parts of this memory that are known; neighbours are one part.
    pub fn known(&self, start: usize, end: usize, mut give: impl FnMut((usize, usize))) {
        let mut part = (start, start);
        for piece in self.within(start, end) {
            if piece.start > part.1 {
                part.0 = piece.start;
            }
            part.1 = piece.end.min(end);
            let goes_on = self.of(part.1).is_some() && part.1 < end;
            if !goes_on {
                give((part.0, part.1));
            }
        }
    }

    /// Has the kernel tell of faults in this memory no longer, so that it is one part again.
    pub fn release(&mut self, faults: &Faults, start: usize, end: usize) {
        loop {
            let next = self.within(start, end).next();
            let Some(piece) = next else { return };
            let from = piece.start.max(start);
            let to = piece.end.min(end);
            let _ = faults.unregister(from, to - from);
            self.forget(from, to);
        }
    }

    fn within(&self, start: usize, end: usize) -> impl Iterator<Item = Piece> {
        let from = self.pieces().partition_point(|piece| piece.end <= start);
        self.pieces()[from..].iter().copied().take_while(move |piece| piece.start < end)
    }

    /// Forgets memory that is no longer there.
    pub fn forget(&mut self, start: usize, end: usize) {
        let from = self.pieces().partition_point(|piece| piece.end <= start);
        let to = self.pieces().partition_point(|piece| piece.start < end);
        if from >= to {
            return;
        }
        let first = self.pieces[from];
        let last = self.pieces[to - 1];
        self.pieces.copy_within(to..self.count, from);
        self.count -= to - from;
        self.know(first.start, start);
        self.know(end, last.end);
    }
}

/// The highest bit says that the page is there (Documentation/admin-guide/mm/pagemap.rst).
fn is_there(entry: u64) -> bool {
    entry >> 63 == 1
}

fn in_fence(piece: Piece) -> Option<(usize, usize)> {
    fence::ranges().find(|(low, high)| *low < piece.end && piece.start < *high)
}

/// Gives the parts of a piece that lie outside all ranges; `hit` finds a range that has a part of a
/// piece.
fn outside(
    piece: Piece,
    hit: &dyn Fn(Piece) -> Option<(usize, usize)>,
    give: &mut dyn FnMut(Piece),
) {
    if piece.start >= piece.end {
        return;
    }
    match hit(piece) {
        None => give(piece),
        Some((low, high)) => {
            outside(Piece { end: low.min(piece.end), ..piece }, hit, give);
            outside(Piece { start: high.max(piece.start), ..piece }, hit, give);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(start: usize, end: usize) -> Vec<(usize, usize)> {
        let ranges = [(30, 40), (10, 20), (35, 50), (90, 99)];
        let hit = |piece: Piece| {
            ranges.into_iter().find(|(low, high)| *low < piece.end && piece.start < *high)
        };
        let mut parts = Vec::new();
        outside(Piece { start, end }, &hit, &mut |piece| parts.push((piece.start, piece.end)));
        parts
    }

    #[test]
    fn pieces_are_found_until_they_are_forgotten() {
        assert!(fence::begin());
        let mut areas = Areas::new().unwrap();
        [(30, 40), (10, 20), (50, 60)]
            .iter()
            .for_each(|(start, end)| areas.insert(Piece { start: *start, end: *end }));
        let found = |areas: &Areas| {
            [5, 10, 19, 20, 35, 59, 60].map(|address| areas.of(address).map(|piece| piece.start))
        };
        assert_eq!(found(&areas), [None, Some(10), Some(10), None, Some(30), Some(50), None]);
        areas.forget(20, 36);
        areas.forget(60, 99);
        assert_eq!(found(&areas), [None, Some(10), Some(10), None, None, Some(50), None]);
        assert_eq!(areas.of(36), Some(Piece { start: 36, end: 40 }));
        areas.forget(0, 99);
        assert!(areas.pieces().is_empty());
    }

    #[test]
    fn pieces_follow_their_memory() {
        assert!(fence::begin());
        let mut areas = Areas::new().unwrap();
        [(10, 20), (20, 40), (100, 110)].iter().for_each(|(start, end)| areas.know(*start, *end));
        let list = |areas: &Areas| {
            areas.pieces().iter().map(|piece| (piece.start, piece.end)).collect::<Vec<_>>()
        };
        let mut known = Vec::new();
        areas.known(15, 105, |part| known.push(part));
        assert_eq!(known, [(15, 40), (100, 105)]);
        areas.follow(10, 95, 20);
        assert_eq!(list(&areas), [(30, 40), (95, 100), (100, 110), (110, 115)]);
        areas.know(90, 120);
        let all = [(30, 40), (90, 95), (95, 100), (100, 110), (110, 115), (115, 120)];
        assert_eq!(list(&areas), all);
    }

    #[test]
    fn ranges_are_cut_out() {
        assert_eq!(parts(15, 80), [(20, 30), (50, 80)]);
        assert_eq!(parts(11, 19), []);
        assert_eq!(parts(0, 10), [(0, 10)]);
    }
}
