//! Pages that were taken away from the program for a moment, and those that are protected.
//!
//! One state machine: a page is here, away or protected. A page that is away lies at its slot in the stash, and comes
//! back when a thread accesses it, when its slot is needed, or at the end. Nothing else may happen to it: the program
//! would lose what it wrote.

use super::kernel::Faults;
use super::{PAGE, fence};
use crate::memory;
use std::ffi::c_int;
use std::slice;

/// Slots: pages that are away or protected at once.
const SLOTS: usize = 4096;
/// Slots that a page may have.
const WAYS: usize = 8;

/// A slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Open {
    /// The page's address; 0 for a free slot.
    pub page: usize,
    /// When it was taken or protected, in nanoseconds of the monotonic clock.
    pub since_ns: u64,
    /// Whether it is away; protected otherwise.
    pub is_away: bool,
}

/// How a page comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    /// It is back.
    Here,
    /// The program changes its memory now, and the kernel must tell of that first.
    Later,
}

/// All slots.
pub struct Stash {
    slots: &'static mut [Open],
    base: usize,
}

impl Stash {
    /// Slots without pages; `None` where the kernel does not allow it.
    pub fn new(faults: &Faults) -> Option<Self> {
        let table = memory::zeros(SLOTS * size_of::<Open>()).cast::<Open>();
        let base = memory::zeros(SLOTS * PAGE);
        if table.is_null() || base.is_null() {
            return None;
        }
        fence::exclude(table as usize, table as usize + SLOTS * size_of::<Open>());
        fence::exclude(base as usize, base as usize + SLOTS * PAGE);
        // SAFETY: the mapping was made above. Children of forks get their own copies from this process.
        unsafe { libc::madvise(base.cast(), SLOTS * PAGE, libc::MADV_DONTFORK) };
        faults.register(base as usize, SLOTS * PAGE).ok()?;
        // SAFETY: the table has `SLOTS` entries, is never unmapped and belongs to this value; zeros are free slots.
        let slots = unsafe { slice::from_raw_parts_mut(table, SLOTS) };
        Some(Stash { slots, base: base as usize })
    }

    /// The slot of a page that is away or protected.
    pub fn find(&self, page: usize) -> Option<usize> {
        ways(page).find(|slot| self.slots[*slot].page == page)
    }

    /// A slot's content.
    pub fn at(&self, slot: usize) -> Open {
        self.slots[slot]
    }

    /// The slots of pages in this memory.
    pub fn within(&self, start: usize, end: usize) -> impl Iterator<Item = usize> + use<> {
        let mut found = [0_u64; SLOTS / 64];
        for (slot, open) in self.slots.iter().enumerate() {
            found[slot / 64] |= u64::from(open.page != 0 && (start..end).contains(&open.page)) << (slot % 64);
        }
        (0..SLOTS).filter(move |slot| found[slot / 64] >> (slot % 64) & 1 == 1)
    }

    /// The first page that is away in this memory, or its end.
    pub fn first_away(&self, start: usize, end: usize) -> usize {
        let away = self.within(start, end).map(|slot| self.slots[slot]).filter(|open| open.is_away);
        away.map(|open| open.page).min().unwrap_or(end)
    }

    /// A slot for a page that is here: a free one, or the one that was opened first.
    pub fn room(&self, page: usize) -> usize {
        ways(page).min_by_key(|slot| (self.slots[*slot].page != 0, self.slots[*slot].since_ns)).unwrap_or(0)
    }

    /// Takes a page away or protects it, into a free slot; false where the kernel or the fence does not allow it.
    pub fn open(&mut self, faults: &Faults, slot: usize, open: Open) -> bool {
        let to = self.place(slot);
        let opened = fence::taking(open.page, || match open.is_away {
            true => faults.take(to, open.page).ok(),
            false => faults.protect(open.page, true).ok(),
        });
        if opened.is_some() {
            self.slots[slot] = open;
        }
        opened.is_some()
    }

    /// Brings a page back, or protects it no longer.
    pub fn close(&mut self, faults: &Faults, slot: usize) -> Return {
        let Open { page, is_away, .. } = self.slots[slot];
        let from = self.place(slot);
        let status = match is_away {
            true => faults.take(page, from).or_else(|error| self.copy(faults, slot, error)),
            false => faults.protect(page, false),
        };
        if status == Err(libc::EAGAIN) {
            return Return::Later;
        }
        self.slots[slot] = Open::default();
        Return::Here
    }

    /// Brings a page back that cannot be moved, as the program has changed the rights on its memory.
    fn copy(&mut self, faults: &Faults, slot: usize, error: c_int) -> Result<(), c_int> {
        if error == libc::EAGAIN {
            return Err(error);
        }
        let copied = faults.copy(self.slots[slot].page, self.place(slot));
        if copied != Err(libc::EAGAIN) {
            self.empty(faults, slot);
        }
        copied
    }

    /// Forgets a page that the program has given back.
    pub fn drop(&mut self, faults: &Faults, slot: usize) {
        match self.slots[slot].is_away {
            true => self.empty(faults, slot),
            false => drop(faults.protect(self.slots[slot].page, false)),
        }
        self.slots[slot] = Open::default();
    }

    /// Gives a page of the stash back. The kernel would wait until this thread had read that it did so; so it is told
    /// of this page no longer, and then again.
    fn empty(&self, faults: &Faults, slot: usize) {
        let place = self.place(slot);
        let _ = faults.unregister(place, PAGE);
        // SAFETY: the page belongs to the stash, and nobody reads it again before it is filled.
        unsafe { libc::madvise(place as *mut libc::c_void, PAGE, libc::MADV_DONTNEED) };
        let _ = faults.register(place, PAGE);
    }

    /// Counts the time of a page from now on.
    pub fn begin_anew(&mut self, slot: usize, now_ns: u64) {
        self.slots[slot].since_ns = now_ns;
    }

    /// Follows a page to its new address.
    pub fn follow(&mut self, slot: usize, page: usize) {
        self.slots[slot].page = page;
    }

    /// Gives the child of a fork copies of all pages that are away.
    pub fn copy_to(&self, child: &Faults) {
        for slot in self.within(0, usize::MAX).filter(|slot| self.slots[*slot].is_away) {
            while child.copy(self.slots[slot].page, self.place(slot)) == Err(libc::EAGAIN) {
                std::thread::yield_now();
            }
        }
    }

    fn place(&self, slot: usize) -> usize {
        self.base + slot * PAGE
    }
}

fn ways(page: usize) -> impl Iterator<Item = usize> {
    let start = (page / PAGE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..WAYS).map(move |way| (start + way) % SLOTS)
}
