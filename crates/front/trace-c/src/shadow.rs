//! The state of each cache line: its owner, its sharers, and the bytes that the owner wrote.
//!
//! As in a processor's caches, a read without a copy since the last write, or a write by another
//! thread, takes the line from the owner. The sharing is true if the thread accesses bytes that the
//! owner wrote.
//!
//! The table is lossy: lines whose numbers end alike replace each other, which is counted. Threads
//! do not wait here, so simultaneous accesses to a line may lose a transfer.

use crate::hot::LineSharing;
use crate::memory::EntryTable;
use crate::tasks::TracedThread;
use crate::{hot, local, threads};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Bytes of a cache line, as a power of two.
pub const LINE_BITS: u32 = 6;
const OWNER_BITS: u32 = 16;
/// Bytes of an entry, as a power of two.
const ENTRY_BITS: u32 = 5;
/// Entries of the table: 512 MiB of addresses, which use memory only if touched. Lines whose
/// addresses agree in their last 30 bits share an entry.
pub const ENTRIES: usize = 1 << 24;
/// The bits of an entry's offset.
const OFFSETS: usize = (ENTRIES - 1) << ENTRY_BITS;

#[repr(C, align(32))]
pub struct Entry {
    /// Line's number, and below it the slot of the owner; 0 in an unused entry.
    key: AtomicU64,
    sharers: AtomicU64,
    /// Sharers that accessed the owner's bytes, or need no further check.
    settled: AtomicU64,
    written: AtomicU64,
}

// SAFETY: zeros are a valid entry.
pub static SHADOW: EntryTable<Entry> = unsafe { EntryTable::of(ENTRIES) };

/// An access of this thread to bytes of one line; bytes beyond its end are ignored.
#[inline(always)]
pub fn access(address: usize, bytes: u32, is_write: bool) {
    let task = local::get();
    if task.is_null() {
        return slow(address, bytes, is_write);
    }
    // SAFETY: a thread's pointer leads to its task in the table, which is never unmapped.
    let slot = unsafe { &*task }.slot.load(Relaxed);
    let entry = entry(address);
    let line = (address as u64) >> LINE_BITS;
    let key = entry.key.load(Relaxed);
    let known = if is_write {
        key == own(line, slot) && entry.is_written_by_one(slot, mask(address, bytes))
    } else {
        key == own(line, slot) || (key >> OWNER_BITS == line && entry.is_settled(slot))
    };
    if !known {
        slow(address, bytes, is_write);
    }
}

/// An access to bytes that may cross into the next line.
#[inline(always)]
pub fn access_unaligned(address: usize, bytes: u32, is_write: bool) {
    let inside = 64 - (address as u32 & 63);
    access(address, bytes, is_write);
    if bytes > inside {
        access(address + inside as usize, bytes - inside, is_write);
    }
}

/// An access that may change the line's state, or a thread's first one.
#[cold]
#[inline(never)]
fn slow(address: usize, bytes: u32, is_write: bool) {
    // SAFETY: a thread's pointer leads to its task in the table, which is never unmapped.
    let task = unsafe { local::get().as_ref() };
    if let Some(task) = task.or_else(threads::adopt) {
        let line = (address as u64) >> LINE_BITS;
        entry(address).change(task, line, mask(address, bytes), is_write);
    }
}

#[inline(always)]
fn own(line: u64, slot: u32) -> u64 {
    line << OWNER_BITS | u64::from(slot)
}

#[inline(always)]
fn mask(address: usize, bytes: u32) -> u64 {
    let low = if bytes >= 64 { u64::MAX } else { (1 << bytes) - 1 };
    low << (address & 63)
}

/// The entry of the line at this address. Neighbours in memory are neighbours in the table.
#[inline(always)]
fn entry(address: usize) -> &'static Entry {
    let offset = (address >> (LINE_BITS - ENTRY_BITS)) & OFFSETS;
    // SAFETY: only a thread with a task comes here, so that the table exists; the offset is that of
    // one of its entries.
    unsafe { &*SHADOW.start().byte_add(offset) }
}

impl Entry {
    #[inline(always)]
    fn is_settled(&self, slot: u32) -> bool {
        self.settled.load(Relaxed) & 1 << (slot & 63) != 0
    }

    #[inline(always)]
    fn is_written_by_one(&self, slot: u32, mask: u64) -> bool {
        self.sharers.load(Relaxed) == 1 << (slot & 63) && self.written.load(Relaxed) & mask == mask
    }

    fn change(&self, task: &TracedThread, line: u64, mask: u64, is_write: bool) {
        let own = own(line, task.slot.load(Relaxed));
        let key = self.key.load(Relaxed);
        if key >> OWNER_BITS != line {
            task.replaced.store(task.replaced.load(Relaxed) + u64::from(key != 0), Relaxed);
            return self.own(own, task.bit(), if is_write { mask } else { 0 });
        }
        if key == own {
            return self.own(own, task.bit(), self.written.load(Relaxed) | mask);
        }
        let owner = (key & 0xffff) as usize;
        let written = self.written.load(Relaxed);
        if written != 0 {
            self.receive(task, owner, line, written, mask);
        }
        if is_write {
            self.own(own, task.bit(), mask);
        } else {
            self.share(task.bit(), written == 0 || written & mask != 0);
        }
    }

    /// Makes a thread the owner and the only sharer.
    fn own(&self, own: u64, bit: u64, written: u64) {
        self.written.store(written, Relaxed);
        self.sharers.store(bit, Relaxed);
        self.settled.store(bit, Relaxed);
        self.key.store(own, Relaxed);
    }

    fn share(&self, bit: u64, is_settled: bool) {
        self.sharers.fetch_or(bit, Relaxed);
        if is_settled {
            self.settled.fetch_or(bit, Relaxed);
        }
    }

    /// Counts a transfer if the thread has no copy, and makes a false one true if the thread now
    /// accesses the owner's bytes.
    fn receive(&self, task: &TracedThread, owner: usize, line: u64, written: u64, mask: u64) {
        let is_true = written & mask != 0;
        let has_copy = self.sharers.load(Relaxed) & task.bit() != 0;
        let was_false = self.settled.load(Relaxed) & task.bit() == 0;
        if has_copy && !(is_true && was_false) {
            return;
        }
        let sharing = if has_copy {
            task.correct(owner);
            LineSharing::Corrected
        } else {
            task.receive(owner, is_true);
            if is_true { LineSharing::True } else { LineSharing::False }
        };
        let base = (line as usize) << LINE_BITS;
        let places = (
            base + written.trailing_zeros() as usize,
            base + (mask.trailing_zeros() & 63) as usize,
        );
        hot::count(owner as u16, task.slot.load(Relaxed) as u16, places, sharing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_mask_ends_with_cache_line() {
        assert_eq!(mask(0x1000, 4), 0xf);
        assert_eq!(mask(0x103e, 4), 0b11 << 62);
        assert_eq!(mask(0x1000, 64), u64::MAX);
    }
}
