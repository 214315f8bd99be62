//! The lines that pass most often between threads.

use crate::memory::EntryTable;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

const ENTRIES: usize = 1 << 16;
const PROBES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSharing {
    /// The receiver accessed bytes that the owner had written.
    True,
    /// The receiver accessed other bytes.
    False,
    /// The receiver accessed other bytes before, and now the written ones.
    Corrected,
}

#[repr(C)]
pub struct HotLine {
    /// Its number; 0 in an unused entry.
    pub number: AtomicUsize,
    pub truly: AtomicU64,
    pub falsely: AtomicU64,
    /// Most frequent pair: owner, receiver, and its lead over all others (a majority vote).
    pub pair: AtomicU64,
    /// An address that the owner of that pair wrote.
    pub written: AtomicUsize,
    /// An address that the receiver accessed.
    pub accessed: AtomicUsize,
}

// SAFETY: zeros are a valid line.
pub static LINES: EntryTable<HotLine> = unsafe { EntryTable::of(ENTRIES) };
static LOST: AtomicU64 = AtomicU64::new(0);

pub fn clear() {
    LINES.clear();
    LOST.store(0, Relaxed);
}

/// Transfers of lines without an entry in the table. The counts of the threads include them.
pub fn lost() -> u64 {
    LOST.load(Relaxed)
}

/// Counts a line's transfer, by the address that the owner wrote and the one that the receiver
/// accesses.
pub fn count(owner: u16, receiver: u16, places: (usize, usize), sharing: LineSharing) {
    let Some(line) = find(places.0 >> 6) else {
        // A corrected transfer was counted as lost before.
        LOST.fetch_add(u64::from(sharing != LineSharing::Corrected), Relaxed);
        return;
    };
    line.add(sharing);
    // A corrected transfer has voted before.
    if sharing != LineSharing::Corrected && line.vote(owner, receiver) {
        line.written.store(places.0, Relaxed);
        line.accessed.store(places.1, Relaxed);
    }
}

fn find(number: usize) -> Option<&'static HotLine> {
    let start = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..PROBES).find_map(|probe| {
        let line = LINES.at((start + probe) % ENTRIES)?;
        let found = line.number.load(Relaxed);
        let is_ours = found == number
            || (found == 0 && line.number.compare_exchange(0, number, Relaxed, Relaxed).is_ok())
            || line.number.load(Relaxed) == number;
        is_ours.then_some(line)
    })
}

impl HotLine {
    fn add(&self, sharing: LineSharing) {
        if sharing == LineSharing::False {
            self.falsely.fetch_add(1, Relaxed);
        } else {
            self.truly.fetch_add(1, Relaxed);
        }
        if sharing == LineSharing::Corrected {
            let _ = self.falsely.fetch_update(Relaxed, Relaxed, |count| count.checked_sub(1));
        }
    }

    /// Boyer and Moore's majority vote: whether the pair leads now.
    fn vote(&self, owner: u16, receiver: u16) -> bool {
        let pair = u64::from(owner) << 48 | u64::from(receiver) << 32;
        let (leader, lead) = split(self.pair.load(Relaxed));
        let next = match (leader == pair, lead) {
            (true, u32::MAX) => leader | u64::from(lead),
            (true, _) => leader | u64::from(lead + 1),
            (false, 0) => pair | 1,
            (false, _) => leader | u64::from(lead - 1),
        };
        self.pair.store(next, Relaxed);
        split(next).0 == pair
    }

    pub fn leader(&self) -> (u16, u16) {
        let pair = self.pair.load(Relaxed);
        ((pair >> 48) as u16, (pair >> 32) as u16)
    }
}

fn split(pair: u64) -> (u64, u32) {
    (pair & !u64::from(u32::MAX), pair as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn majority_vote_selects_leading_pair() {
        // SAFETY: zeros are a valid line.
        let line: HotLine = unsafe { std::mem::zeroed() };
        for (owner, receiver) in [(1, 2), (3, 4), (5, 6), (5, 6), (5, 6), (1, 2)] {
            line.vote(owner, receiver);
        }
        assert_eq!(line.leader(), (5, 6));
    }

    #[test]
    fn lost_transfer_is_counted_once() {
        assert!(LINES.begin());
        let mut addresses = (1..).map(|number: usize| (number << 6, number << 6));
        let full = addresses.find(|places| {
            count(1, 2, *places, LineSharing::False);
            lost() > 0
        });
        count(1, 2, full.unwrap(), LineSharing::Corrected);
        assert_eq!(lost(), 1);
    }
}
