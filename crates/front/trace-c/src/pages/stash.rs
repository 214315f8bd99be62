//! Pages that were taken away from the program for a moment, and those that are protected.
//!
//! One state machine: a page is here, away or protected. A page that is away lies at its slot in
//! the stash, and comes back when a thread accesses it, when its slot is needed, or at the end.
//! Nothing else may happen to it: the program would lose what it wrote. So a slot is emptied only
//! after its page has come back, or after the kernel has said that the program has no such memory
//! any more.
//!
//! A page's address gives the slots in which it may lie. A page that was moved by mremap(2) keeps
//! its slot until it can come back: it has strayed, and all slots are searched while there are such
//! pages.

use super::kernel::Faults;
use super::{PAGE, child, fence};
use crate::memory;
use std::ffi::c_int;
use std::slice;

/// Slots: pages that are away or protected at once.
pub const SLOTS: usize = 4096;
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
    /// Whether it was moved to its address, and has not come back since.
    pub has_strayed: bool,
    /// Departures of other memory from its address that the kernel has yet to tell of.
    pub owed: u8,
}

/// How a page comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    /// It is back.
    Here,
    /// It stays, and must be tried again: the program changes its memory now, and the kernel must
    /// tell of that first; or memory is short.
    Later,
}

/// All slots.
pub struct Stash {
    slots: &'static mut [Open],
    base: usize,
    strays: usize,
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
        // SAFETY: the mapping was made above. Children of forks get their own copies from this
        // process.
        unsafe { libc::madvise(base.cast(), SLOTS * PAGE, libc::MADV_DONTFORK) };
        faults.register(base as usize, SLOTS * PAGE).ok()?;
        // SAFETY: the table has `SLOTS` entries, is never unmapped and belongs to this value; zeros
        // are free slots.
        let slots = unsafe { slice::from_raw_parts_mut(table, SLOTS) };
        Some(Stash { slots, base: base as usize, strays: 0 })
    }

    /// The slot of a page that is away or protected. Of several pages of one address, the one that
    /// came last is the program's now.
    pub fn find(&self, page: usize) -> Option<usize> {
        if self.strays > 0 {
            return (0..SLOTS)
                .filter(|slot| self.slots[*slot].page == page)
                .max_by_key(|slot| self.slots[*slot].owed);
        }
        ways(page).find(|slot| self.slots[*slot].page == page)
    }

    /// Whether pages have moved that have not come back.
    pub fn has_strays(&self) -> bool {
        self.strays > 0
    }

    /// A slot's content.
    pub fn at(&self, slot: usize) -> Open {
        self.slots[slot]
    }

    /// Whether the kernel has told of every change of the program's memory.
    pub fn is_quiet(&self, faults: &Faults) -> bool {
        faults.is_quiet(self.base)
    }

    /// The slots of pages in this memory.
    pub fn within(&self, start: usize, end: usize) -> impl Iterator<Item = usize> + use<> {
        let mut found = [0_u64; SLOTS / 64];
        for (slot, open) in self.slots.iter().enumerate() {
            found[slot / 64] |=
                u64::from(open.page != 0 && (start..end).contains(&open.page)) << (slot % 64);
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
        ways(page)
            .min_by_key(|slot| (self.slots[*slot].page != 0, self.slots[*slot].since_ns))
            .unwrap_or(0)
    }

    /// Takes a page away or protects it, into a free slot; false where the kernel or the fence does
    /// not allow it.
    pub fn open(&mut self, faults: &Faults, slot: usize, open: Open) -> bool {
        let to = self.place(slot);
        let opened = fence::taking(open.page, || {
            if !open.is_away {
                faults.protect(open.page, true).ok()
            } else if !faults.tells_of(open.page) {
                None
            } else {
                faults.take(to, open.page).ok()
            }
        });
        if opened.is_some() {
            self.slots[slot] = open;
        }
        opened.is_some()
    }

    /// Brings a page back, or protects it no longer.
    pub fn close(&mut self, faults: &Faults, slot: usize) -> Return {
        let Open { page, is_away, .. } = self.slots[slot];
        let result =
            if is_away { self.put_back(faults, slot) } else { faults.protect(page, false) };
        match result {
            Ok(()) => {}
            // There is no such memory, or it has a page of its own.
            Err(libc::ENOENT | libc::EEXIST | libc::EINVAL | libc::ESRCH) if is_away => {
                self.empty(faults, slot)
            }
            Err(libc::EAGAIN) => return Return::Later,
            Err(_) if is_away => return Return::Later,
            Err(_) => {}
        }
        self.free(slot);
        Return::Here
    }

    /// Puts a page back: by a move, or by a copy where the program has changed the rights on its
    /// memory.
    fn put_back(&mut self, faults: &Faults, slot: usize) -> Result<(), c_int> {
        let page = self.slots[slot].page;
        match faults.take(page, self.place(slot)) {
            Err(error) if error != libc::EAGAIN => {}
            other => return other,
        }
        faults.copy(page, self.place(slot))?;
        self.empty(faults, slot);
        Ok(())
    }

    fn free(&mut self, slot: usize) {
        self.strays -= usize::from(self.slots[slot].has_strayed);
        self.slots[slot] = Open::default();
    }

    /// Forgets a page that the program has given back.
    pub fn drop(&mut self, faults: &Faults, slot: usize) {
        if self.slots[slot].is_away {
            self.empty(faults, slot);
        } else {
            // A page that cannot be protected any more is not the program's either.
            let _ = faults.protect(self.slots[slot].page, false);
        }
        self.free(slot);
    }

    /// Gives a page of the stash back. The kernel would wait until this thread had read that it did
    /// so; so it is told of this page no longer, and then again. A slot for which the kernel
    /// refuses that stays full, and takes no page.
    fn empty(&self, faults: &Faults, slot: usize) {
        let place = self.place(slot);
        if faults.unregister(place, PAGE).is_err() {
            return;
        }
        // SAFETY: the page belongs to the stash, and nobody reads it again before it is filled.
        unsafe { libc::madvise(place as *mut libc::c_void, PAGE, libc::MADV_DONTNEED) };
        let _ = faults.register(place, PAGE);
    }

    /// Counts the time of a page from now on.
    pub fn begin_anew(&mut self, slot: usize, now_ns: u64) {
        self.slots[slot].since_ns = now_ns;
    }

    /// Follows a page to its new address, from which the kernel owes as many departures.
    pub fn follow(&mut self, slot: usize, page: usize, owed: usize) {
        self.strays += usize::from(!self.slots[slot].has_strayed);
        self.slots[slot].page = page;
        self.slots[slot].has_strayed = true;
        self.slots[slot].owed = owed.min(usize::from(u8::MAX)) as u8;
    }

    /// Takes in that memory has left a page's address; whether it was the page's own.
    pub fn leaves(&mut self, slot: usize) -> bool {
        let owed = self.slots[slot].owed;
        self.slots[slot].owed = owed.saturating_sub(1);
        owed == 0
    }

    /// The kernel has told everything: of several pages of one address, all but the last are of
    /// memory that is gone.
    pub fn settle(&mut self, faults: &Faults) {
        for slot in self.within(0, usize::MAX) {
            if self.slots[slot].page != 0 && self.find(self.slots[slot].page) != Some(slot) {
                self.empty(faults, slot);
                self.free(slot);
            }
        }
        self.slots.iter_mut().for_each(|open| open.owed = 0);
    }

    /// Tries to bring pages back that were moved.
    pub fn close_strays(&mut self, faults: &Faults) {
        for slot in self.within(0, usize::MAX) {
            if self.slots[slot].has_strayed {
                self.close(faults, slot);
            }
        }
    }

    /// Gives the child of a fork copies of all pages that are away.
    pub fn copy_to(&self, child: &Faults) {
        let away = self.within(0, usize::MAX).filter(|slot| self.slots[*slot].is_away);
        let mut pages = [(0, 0); SLOTS];
        let mut count = 0;
        for slot in away {
            pages[count] = (self.slots[slot].page, self.place(slot));
            count += 1;
        }
        child::fill(child, &mut pages[..count]);
    }

    fn place(&self, slot: usize) -> usize {
        self.base + slot * PAGE
    }
}

fn ways(page: usize) -> impl Iterator<Item = usize> {
    let start = (page / PAGE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..WAYS).map(move |way| (start + way) % SLOTS)
}
